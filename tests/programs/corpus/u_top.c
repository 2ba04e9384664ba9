// truth: unsafe
int main(void){ unsigned n = __VERIFIER_nondet_uint(); int c = 0; assume(n > 4294967290u); unsigned i = n - 6; while (i < n && c < 50) { i += 4; c++; } assert(c == 2); return 0; }
