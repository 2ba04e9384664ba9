// truth: safe
#include <stdlib.h>
int main(void){ int x = __VERIFIER_nondet_bool(); if (x) _Exit(1); assert(!x); return 0; }
