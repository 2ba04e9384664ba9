// truth: safe
int main(void){ int x = __VERIFIER_nondet_uchar(), r; if (x < 10) r = 0; else if (x < 20) r = 1; else if (x < 30) r = 2; else r = 3; assert(r != 1 || (x >= 10 && x <= 19)); assert(r <= 3); return 0; }
