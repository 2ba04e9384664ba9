// truth: safe
#if __has_include(<stdlib.h>)
int x = 1;
#else
int x = 2;
#endif
int main(void){ assert(x == 1); return 0; }
