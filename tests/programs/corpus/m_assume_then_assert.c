// truth: safe
int main(void){ int x = __VERIFIER_nondet_int(); if (x > 5) { assume(x < 5); assert(0); } assert(x <= 5); return 0; }
