// truth: unsafe
int main(void) { int x = __VERIFIER_nondet_int(); double d = 1 / x; assert(1); return 0; }
