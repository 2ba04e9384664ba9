// truth: safe
#include <assert.h>
#include <stdlib.h>
int __VERIFIER_nondet_int(void);
#define CHECK(x) assert(x)
#define DIE exit(0)
int main(){ int x=__VERIFIER_nondet_int(); CHECK(x != 3 || (DIE, 0)); }
