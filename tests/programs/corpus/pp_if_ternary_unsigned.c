// truth: safe
#if (1 ? -1 : 0u) > 0
#define V 1
#else
#define V 2
#endif
int main(void){ assert(V == 1); return 0; }
