// truth: unspecified
int g = 0; int f(void){ g = 1; return 10; } int main(void){ int x; x = f() - g; assert(x == 9); return 0; }
