// truth: refused
int main(void){ int i = 5; i = i++; assert(i == 5); return 0; }
