// truth: safe
#include <assert.h>
int main(void){ int x = 0; assert(++x); assert(x == 1); return 0; }
