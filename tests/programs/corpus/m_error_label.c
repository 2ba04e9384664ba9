// truth: unsafe
int main(void){ int x = __VERIFIER_nondet_bool(); if (x) goto ERROR; return 0; ERROR: __VERIFIER_error(); return 1; }
