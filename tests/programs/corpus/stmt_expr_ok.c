// truth: safe
int main(void){ int x = __VERIFIER_nondet_int(); assume(x>=0&&x<3); ({ if (x > 3) __assert_fail("", "", 0, ""); }); return 0; }
