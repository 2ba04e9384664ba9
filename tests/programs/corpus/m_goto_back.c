// truth: unsafe
int main(void){ int i = 0; again: { int t = i; i = t + 1; } if (i < 5) goto again; assert(i == 4); return 0; }
