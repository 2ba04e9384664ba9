// truth: safe
#if (1 << 40) == 0x10000000000
#define V 1
#else
#define V 2
#endif
int main(void){ assert(V == 1); return 0; }
