// truth: safe
#if foo
#define V 1
#elif !foo
#define V 2
#endif
int main(void){ assert(V == 2); return 0; }
