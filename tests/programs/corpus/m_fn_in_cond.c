// truth: safe
int g; int next(void){ return g++; } int main(void){ int n = 0; while (next() < 4) n++; assert(n == 4 && g == 5); return 0; }
