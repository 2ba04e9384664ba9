// truth: safe
#if 'a' == 97 && '\377' < 0 && '\n' == 10
#define V 1
#else
#define V 2
#endif
int main(void){ assert(V == 1); return 0; }
