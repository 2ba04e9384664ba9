// truth: unsafe
int main(void){ int n = __VERIFIER_nondet_int(), c = 0; assume(n>0&&n<8); int k=(n+3)/4; switch (n % 4) { case 0: do { c++; case 3: c++; case 2: c++; case 1: c++; } while (--k > 0); } assert(c != 7); return 0; }
