// truth: safe
#define NDEBUG
#include <assert.h>
int main(void){ int x = 0; assert(x++); __VERIFIER_assert(x == 0); return 0; }
