// truth: safe
int g = 1; int f(int g){ g = 5; return g; } int main(void){ f(2); assert(g == 1); return 0; }
