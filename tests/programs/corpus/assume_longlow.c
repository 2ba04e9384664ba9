// truth: safe
int main(void){ long x = 4294967296L; __VERIFIER_assume(x); __VERIFIER_assert(0); return 0; }
