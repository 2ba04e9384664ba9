// truth: unsafe
double f(int x) { return 1 / x; }
int main(void) { f(__VERIFIER_nondet_int()); assert(1); return 0; }
