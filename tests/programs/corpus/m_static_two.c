// truth: safe
int f(void){ static int n; return ++n; } int g(void){ static int n; return n += 10; } int main(void){ f(); f(); int a = g(); int b = f(); assert(a == 10 && b == 3); return 0; }
