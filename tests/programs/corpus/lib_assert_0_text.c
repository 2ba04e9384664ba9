// truth: unsafe
int main(void){ int x = __VERIFIER_nondet_bool(); if (x) assert(0 && "never"); return 0; }
