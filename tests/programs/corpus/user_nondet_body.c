// truth: safe
int __VERIFIER_nondet_int(void){ return 4; } int main(void){ int x = __VERIFIER_nondet_int(); assert(x == 4); return 0; }
