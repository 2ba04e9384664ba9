// truth: safe (the argument exits, and the body would abort)
#include <stdlib.h>
#define assert(c) ((c) ? (void)0 : abort())
int __VERIFIER_nondet_int(void);
int main(void) { int x = __VERIFIER_nondet_int(); assert(x != 3 || (exit(0), 0)); }
