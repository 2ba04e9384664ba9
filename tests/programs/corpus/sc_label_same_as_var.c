// truth: safe
int main(void){ int x = 0; x: if (x++ < 3) goto x; assert(x == 4); return 0; }
