// truth: safe
#define V 2
#if V == 1
int x = 1;
#elif V == 2
int x = 2;
#elif V == 2
int x = 3;
#else
int x = 4;
#endif
int main(void){ assert(x == 2); return 0; }
