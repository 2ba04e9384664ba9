// truth: safe
#define f(x) (f(x)+1)
int (f)(int x){ return x; }
int main(void){ assert(f(1)==2); return 0; }
