// truth: safe
void __VERIFIER_assert(int c){ } int main(void){ __VERIFIER_assert(0); assert(1); return 0; }
