// truth: refused
int main(void){ int i = 1; i = i++ + ++i; assert(i == 4); return 0; }
