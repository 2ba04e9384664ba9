// truth: safe
int g; int f(void){ return ++g; } int add(int a, int b){ return a + b; } int main(void){ assert(add(f(), f()) == 3); return 0; }
