// truth: refused
struct s { int *p; };
int f(struct s);
int main(void) { int x = 1; struct s v = {&x}; f(v); assert(x == 1); return 0; }
