// truth: safe
#include <assert.h>
#undef assert
#define assert(x) ((void)0)
int main(void){ assert(0); __VERIFIER_assert(1); return 0; }
