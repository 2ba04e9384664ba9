// truth: safe
int main(void){ int x = __VERIFIER_nondet_int(); assume(x == 2147483647); int y = x + 1; if (y < x) assert(0); return 0; }
