// truth: safe
#if __STDC_VERSION__ >= 201112L
int x = 1;
#else
int x = 2;
#endif
int main(void){ assert(x == 1); return 0; }
