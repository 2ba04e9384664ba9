// truth: unsafe
int main(void){ int x = __VERIFIER_nondet_int(); unsigned y = (unsigned)x + 1; assert((int)y > x); return 0; }
