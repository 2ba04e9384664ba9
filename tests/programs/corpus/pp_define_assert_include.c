// truth: unsafe
#define assert(x)
#include <assert.h>
int main(void){ assert(0); return 0; }
