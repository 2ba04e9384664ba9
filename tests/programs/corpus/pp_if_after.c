// truth: safe
#define N 3
#if N == 3
int x = 1;
#endif
#undef N
#define N 4
#if N == 3
int y = 1;
#else
int y = 2;
#endif
int main(void){ assert(x == 1 && y == 2); return 0; }
