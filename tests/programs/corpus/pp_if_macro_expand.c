// truth: safe
#define A B + 1
#define B 2
#if A * 2 == 4
int r = 1;
#else
int r = 2;
#endif
int main(void){ assert(r == 1); return 0; }
