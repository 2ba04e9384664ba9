// truth: unsafe
int g; int main(void){ int *p = &g; *p = 2; assert(g == 0); return 0; }
