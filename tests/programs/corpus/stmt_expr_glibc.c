// truth: unsafe
int main(void){ int x = __VERIFIER_nondet_int(); assume(x>=0&&x<8); ((void) sizeof ((x < 5) ? 1 : 0), __extension__ ({ if (x < 5) ; else __assert_fail ("x < 5", "a.c", 3, __extension__ __PRETTY_FUNCTION__); })); return 0; }
