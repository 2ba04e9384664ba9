// truth: refused (a statement expression)
extern void __assert_fail(const char *, const char *, unsigned, const char *) __attribute__((noreturn)); int main(void) { int x = 1; ({ if (x > 3) __assert_fail("x", "f", 1, "m"); }); assert(x == 1); return 0; }
