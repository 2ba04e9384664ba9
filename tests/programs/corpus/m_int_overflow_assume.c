// truth: safe
int main(void){ int x = __VERIFIER_nondet_int(); int y = x + 1; assert(y > x); return 0; }
