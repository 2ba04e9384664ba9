// truth: safe
int main(void){ int a = -2147483647 - 1; int b = __VERIFIER_nondet_bool() ? -1 : 1; int r = a % b; assert(r == 0); return 0; }
