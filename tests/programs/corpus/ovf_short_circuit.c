// truth: unsafe
int main(void){ int a = __VERIFIER_nondet_int(); if (a > 2147483640 || a + 10 < 0) assert(a > 0); return 0; }
