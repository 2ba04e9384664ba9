// truth: safe
#define f(x) x + f(x)
int (f)(int x){ return x; }
int main(void){ assert(f(1) == 2); return 0; }
