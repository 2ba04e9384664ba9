// truth: unsafe
int main(void){ char c = __VERIFIER_nondet_int(); assert(c != -128); return 0; }
