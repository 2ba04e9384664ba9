// truth: safe
#define SQ(x) x * x
#define DBL(x) x + x
int main(void){ assert(SQ(1 + 2) == 5); assert(2 * DBL(3) == 9); return 0; }
