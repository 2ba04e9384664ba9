// truth: safe
int main(void){ int x = 0, r = 1; if (x) if (x > 1) r = 2; else r = 3; assert(r == 1); return 0; }
