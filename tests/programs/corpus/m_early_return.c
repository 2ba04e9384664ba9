// truth: unsafe
int g; int f(int x){ while (1) { if (x > 3) return x; x++; g++; } } int main(void){ int r = f(0); assert(r == 4 && g == 3); return 0; }
