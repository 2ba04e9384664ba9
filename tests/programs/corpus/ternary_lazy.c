// truth: safe
int main(void){ int i = 0, j = 0; int c = __VERIFIER_nondet_bool(); c ? i++ : j++; assert(i + j == 1 && i == c); return 0; }
