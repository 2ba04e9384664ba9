// truth: refused (the attribute alias)
int f(void) { return 1; } int g(void) __attribute__((alias("f"))); int main(void) { assert(g() == 1); return 0; }
