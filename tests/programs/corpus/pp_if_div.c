// truth: safe
#if -7 / 2 == -3 && -7 % 2 == -1 && -1 >> 1 == -1
#define V 1
#else
#define V 2
#endif
int main(void){ assert(V == 1); return 0; }
