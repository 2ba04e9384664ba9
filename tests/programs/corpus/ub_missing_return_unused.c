// truth: safe
int f(int x){ if (x) return 1; } int main(void){ f(0); assert(1); return 0; }
