// truth: refused
int main(void){ int i = 1; int j = i++ + i; assert(j == 3); return 0; }
