// truth: refused
int main(void){ int i = 1; assert(i == i++); return 0; }
