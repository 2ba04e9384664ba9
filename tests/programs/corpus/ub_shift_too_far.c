// truth: unsafe
int main(void){ unsigned n = __VERIFIER_nondet_uchar(); assume(n < 40); unsigned x = 1u << n; assert(x != 0 || n > 31); return 0; }
