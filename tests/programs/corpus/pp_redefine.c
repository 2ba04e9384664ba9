// truth: safe
#define A 1
int x = A;
#undef A
#define A 2
int y = A;
int main(void){ assert(x == 1 && y == 2); return 0; }
