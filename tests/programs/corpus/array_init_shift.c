// truth: unsafe
int main(void) { int x = __VERIFIER_nondet_int(); int a[2] = {0, x << 3}; assert(1); return 0; }
