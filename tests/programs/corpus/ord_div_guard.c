// truth: unspecified
int g = 0; int f(void){ g = 1; return 6; } int main(void){ int r = f() / g; assert(r == 6); return 0; }
