// truth: unsafe
int main(void){ unsigned s = 0, n = __VERIFIER_nondet_uint(); assume(n == 4294967295u); s = n + n; assert(s == 2 * (unsigned long)n); return 0; }
