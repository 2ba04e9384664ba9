// truth: unsafe
int main(void){ int x = 1; int *p = &x; *p = 2; assert(x == 1); return 0; }
