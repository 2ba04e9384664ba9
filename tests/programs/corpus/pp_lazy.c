// truth: safe
#define B A
#define A 1
int x = B;
#undef A
#define A 2
int main(void){ assert(x == 1 && B == 2); return 0; }
