// truth: unsafe
static int f(void){ static int n; return ++n; } int main(void){ int a = f(); int b = f(); assert(a == b); return 0; }
