// truth: safe
int main(void){ int x = 0; (void)x++; (void)0; assert(x == 1); return 0; }
