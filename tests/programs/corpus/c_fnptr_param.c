// truth: refused (a function pointer that hides a function)
int f(void) { return 1; } int call(int (*f)(void)) { return f(); } int g(void) { return 2; } int main(void) { assert(call(g) == 2); return 0; }
