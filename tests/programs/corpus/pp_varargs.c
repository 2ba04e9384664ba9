// truth: safe
#define SUM(a, ...) ((a) + (__VA_ARGS__))
int main(void){ assert(SUM(1, 2) == 3); assert(SUM(1, 2, 5) == 6); return 0; }
