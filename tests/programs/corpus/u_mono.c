// truth: unsafe
int main(void){ unsigned x = __VERIFIER_nondet_uint(); unsigned y = x + 1; assert(y > x); return 0; }
