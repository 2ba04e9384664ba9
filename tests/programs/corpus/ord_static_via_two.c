// truth: unspecified
static int n; int a(void){ n = n * 2; return n; } int b(void){ n = n + 3; return n; } int main(void){ n = 1; int r = a() + b(); assert(n == 5); return 0; }
