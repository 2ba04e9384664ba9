// truth: unsafe
int main(void){ int x = 2147483647; if (__VERIFIER_nondet_bool()) { __VERIFIER_assert(0); x += 1; } return 0; }
