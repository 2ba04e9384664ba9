// truth: unsafe
int main(void){ int x = -1; assert(x < 0x80000000); return 0; }
