// truth: safe
int g = 3; int f(void){ return g; } int main(void){ int r = g + f() * g; assert(r == 12); return 0; }
