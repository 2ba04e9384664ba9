// truth: unspecified
int g; int f(void){ return ++g; } int main(void){ int a = f(), b = f(); assert(a == 1 && b == 2); int c = f() * 10 + f(); assert(c == 34); return 0; }
