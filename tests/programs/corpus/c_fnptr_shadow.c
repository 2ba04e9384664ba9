// truth: refused (a function pointer that hides a function)
int f(void) { return 1; } int g(void) { return 2; } int main(void) { int (*f)(void) = g; assert(f() == 2); return 0; }
