// truth: safe
int main(void){ int a = __VERIFIER_nondet_int(), b = __VERIFIER_nondet_int(); if (a > 0 && b > 0) assert(a + b > 0); return 0; }
