// truth: unsafe
int main(void){ int i = -1; if (i < sizeof(int)) return 0; assert(0); return 0; }
