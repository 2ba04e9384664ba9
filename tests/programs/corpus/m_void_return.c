// truth: safe
int g; void f(int x){ if (x) return; g = 1; } int main(void){ f(1); assert(g == 0); f(0); assert(g == 1); return 0; }
