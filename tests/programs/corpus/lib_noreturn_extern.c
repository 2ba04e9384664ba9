// truth: safe
_Noreturn void reach_nothing(void); int main(void){ int x = __VERIFIER_nondet_bool(); if (x) abort(); assert(!x); return 0; }
