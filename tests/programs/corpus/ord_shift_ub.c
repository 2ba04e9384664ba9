// truth: refused
int main(void){ int i = 1; int r = i << i++; assert(r == 2 || r == 4); return 0; }
