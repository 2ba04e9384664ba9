// truth: unsafe
int main(void){ unsigned a = __VERIFIER_nondet_uint(), b = __VERIFIER_nondet_uint(); unsigned m = (a + b) / 2; assert(m >= a || m >= b); return 0; }
