// truth: refused
int f(void){ return 1; } int g(void) __attribute__((alias("f"))); int main(void){ assert(g() == 2); return 0; }
