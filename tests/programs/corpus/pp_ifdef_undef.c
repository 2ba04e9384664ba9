// truth: safe
#define X 1
#undef X
#ifdef X
int r = 1;
#else
int r = 2;
#endif
#ifndef X
int q = 3;
#endif
int main(void){ assert(r == 2 && q == 3); return 0; }
