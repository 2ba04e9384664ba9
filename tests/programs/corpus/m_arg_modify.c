// truth: safe
int f(int x){ x++; return x; } int main(void){ int y = 1; int z = f(y); assert(y == 1 && z == 2); return 0; }
