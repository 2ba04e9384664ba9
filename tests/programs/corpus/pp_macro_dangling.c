// truth: unsafe
#define SETZ if (z) z = 0
int main(void){ int z = 1, r = 0; if (r) SETZ; else r = 1; assert(r == 0 && z == 0); return 0; }
