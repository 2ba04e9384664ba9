// truth: unspecified
int g = 1; int inc(void){ g++; return 0; } int add(int a, int b){ return a + b; } int main(void){ int r = add(g, inc()); assert(r == 1); return 0; }
