// truth: safe
int main(void){ _Bool a = __VERIFIER_nondet_bool(); int x = __VERIFIER_nondet_bool() - __VERIFIER_nondet_bool(); assert(x >= -1 && x <= 1); return 0; }
