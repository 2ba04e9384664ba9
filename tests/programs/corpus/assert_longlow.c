// truth: unsafe
int main(void){ long x = 4294967296L; __VERIFIER_assert(x); return 0; }
