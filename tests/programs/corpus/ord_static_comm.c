// truth: safe
static int n; int a(void){ n = n + 2; return 0; } int b(void){ n = n + 3; return 0; } int main(void){ n = 1; int r = a() + b(); assert(n == 6 && r == 0); return 0; }
