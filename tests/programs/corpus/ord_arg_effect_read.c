// truth: unspecified
int f(int a, int b){ return a * 10 + b; } int main(void){ int i = 1; int r = f(i, i = 2); assert(r == 12); return 0; }
