// truth: unsafe
int main(void) { int x = __VERIFIER_nondet_int(); int a[1] = {1 / x}; assert(1); return 0; }
