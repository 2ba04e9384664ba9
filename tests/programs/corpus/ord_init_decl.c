// truth: safe
int g; int f(void){ return ++g; } int main(void){ int a = f(), b = f() + a; assert(b == 3); return 0; }
