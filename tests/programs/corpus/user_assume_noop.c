// truth: unsafe
void __VERIFIER_assume(int c){ } int main(void){ int x = __VERIFIER_nondet_bool(); __VERIFIER_assume(x == 1); assert(x == 1); return 0; }
