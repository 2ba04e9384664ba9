// truth: unsafe
#include <stdlib.h>
int main(void){ int c = __VERIFIER_nondet_bool(); if (c) exit(0); else assert(c); return 0; }
