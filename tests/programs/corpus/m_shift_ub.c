// truth: unsafe (a shift by an amount out of range is a failure)
int main(void){ int n = __VERIFIER_nondet_bool() ? 1 : 33; int x = 1 << n; assert(x == 2); return 0; }
