// truth: safe
int f(int) __attribute__((const)); int f(int x){ return x + 1; } int main(void){ assert(f(2) == 3); return 0; }
