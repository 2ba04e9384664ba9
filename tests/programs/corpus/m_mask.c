// truth: safe
int main(void){ int x = __VERIFIER_nondet_char(); assert((x & 1) == 0 || (x & 1) == 1); assert((x & 7) >= 0 && (x & 7) <= 7); assert((x & -1) == x); return 0; }
