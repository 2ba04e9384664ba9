// truth: unsafe
#define NDEBUG
#include <assert.h>
#undef NDEBUG
#include <assert.h>
int main(void){ int x = 0; assert(x); return 0; }
