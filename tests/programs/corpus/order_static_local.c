// truth: unspecified
int f(void){ static int n; return ++n; } int main(void){ int x = f() - f(); assert(x == -1); return 0; }
