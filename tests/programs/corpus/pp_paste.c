// truth: safe
#define CAT(a, b) a##b
#define XCAT(a, b) CAT(a, b)
#define N 3
int main(void){ int x3 = 5, xN = 7; assert(XCAT(x, N) == 5 && CAT(x, N) == 7); return 0; }
