// truth: safe
int main(void){ unsigned x = 0; int i = 0; int n = __VERIFIER_nondet_uchar(); while (i < n) { x += 2000000002u; i++; } assert(x % 2 == 0); return 0; }
