// truth: unsafe
void __VERIFIER_assert(int c){ if (c) __VERIFIER_error(); } int main(void){ __VERIFIER_assert(1); return 0; }
