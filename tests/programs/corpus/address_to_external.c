// truth: refused
int f(int *p);
int main(void) { int x = 1; int *p = &x; f(p); assert(x == 1); return 0; }
