// truth: safe
#define f(x) 3
int f = 5;
int main(void){ assert(f == 5 && f(1) == 3); return 0; }
