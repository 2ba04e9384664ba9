// truth: unsafe
int main(void){ int x = __VERIFIER_nondet_bool(); if (__builtin_expect(x, 0)) assert(0); return 0; }
