// truth: safe
int main(void){ int x = __VERIFIER_nondet_int(), r = 0; assume(x>=0&&x<=3); switch (x) { case 1: r = 1; break; default: r = 5; case 2: r += 2; } assert(r == 1 || r == 2 || r == 7); assert(x != 2 || r == 2); return 0; }
