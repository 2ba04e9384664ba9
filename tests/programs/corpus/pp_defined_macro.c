// truth: safe
#define HAS defined(FOO)
#define FOO 1
#if HAS
int x = 1;
#else
int x = 2;
#endif
int main(void){ assert(x == 1); return 0; }
