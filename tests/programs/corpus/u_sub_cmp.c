// truth: unsafe
int main(void){ unsigned a = __VERIFIER_nondet_uchar(), b = __VERIFIER_nondet_uchar(); assert((a - b > 0) == (a > b)); return 0; }
