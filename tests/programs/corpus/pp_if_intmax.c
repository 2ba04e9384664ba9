// truth: safe
#if 2147483647 + 1 > 0
#define V 1
#else
#define V 2
#endif
int main(void){ assert(V == 1); return 0; }
