// truth: safe
int main(void){ int z = 0; int x = 2147483647; if (__VERIFIER_nondet_bool()) { x += 1; __VERIFIER_assert(0); } return 0; }
