// truth: safe
int main(void){ int x = __VERIFIER_nondet_int(); long y = (long)x + 1; assert(y > x); return 0; }
