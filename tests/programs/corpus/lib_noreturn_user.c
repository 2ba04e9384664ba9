// truth: safe
_Noreturn void die(void){ abort(); } int main(void){ int x = __VERIFIER_nondet_bool(); if (x) die(); assert(!x); return 0; }
