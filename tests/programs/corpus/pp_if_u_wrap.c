// truth: safe
#if 0u - 1 == 0xffffffffffffffff
#define V 1
#else
#define V 2
#endif
int main(void){ assert(V == 1); return 0; }
