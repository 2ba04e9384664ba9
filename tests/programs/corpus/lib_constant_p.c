// truth: refused
int main(void){ int x = __VERIFIER_nondet_bool(); assert(__builtin_constant_p(x)); return 0; }
