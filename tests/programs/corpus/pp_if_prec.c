// truth: safe
#if 1 + 2 * 3 == 7 && (1 | 2 ^ 3 & 1) == 3 && 8 >> 1 + 1 == 2
int r = 1;
#else
int r = 2;
#endif
int main(void){ assert(r == 1); return 0; }
