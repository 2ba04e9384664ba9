// truth: safe
int main(void){ int x = __VERIFIER_nondet_bool() - __VERIFIER_nondet_bool() * 2; assert(x >= -2 && x <= 1); return 0; }
