// truth: empty
#define NDEBUG
#include <assert.h>
int main(void){ assert(0); return 0; }
