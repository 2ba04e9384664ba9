// truth: unsafe
int main(void){ int x; int y = __VERIFIER_nondet_int(); assert(y != 7); return 0; }
