// truth: safe
#if 0
#if 1
int x = 1;
#else
int x = 2;
#endif
#error no
#foo
#else
int x = 3;
#endif
int main(void){ assert(x == 3); return 0; }
