// truth: safe
int main(void){ int i = 1; while (i > 0) i++; assert(0); return 0; }
