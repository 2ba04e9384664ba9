// truth: safe
#if 0 && (1 / 0)
#define V 1
#elif 1 || (1 / 0)
#define V 2
#endif
int main(void){ assert(V == 2); return 0; }
