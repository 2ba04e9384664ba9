// truth: safe
int main(void){ int s = 0; for (int i = 0, j = 3; i < j; i++, j--) s++; assert(s == 2); return 0; }
