// truth: unsafe
int main(void){ int a = -2147483647 - 1, b = __VERIFIER_nondet_bool() ? 3 : 2; int c = a / b; assert(c == -1073741824); return 0; }
