// truth: safe
#if true
#define V 1
#else
#define V 2
#endif
int main(void){ assert(V == 2); return 0; }
