// truth: safe
#if ~0 == -1 && !0 && -(-1) == 1 && +3 == 3 && ~0u == 18446744073709551615u
int r = 1;
#else
int r = 2;
#endif
int main(void){ assert(r == 1); return 0; }
