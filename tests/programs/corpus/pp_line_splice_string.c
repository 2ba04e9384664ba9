// truth: safe
#define A 1
#define AA 2
int main(void){ int x = A\
A; assert(x == 2); return 0; }
