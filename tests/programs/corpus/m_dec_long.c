// truth: safe
int main(void){ int x = -1; assert(x < 2147483648); return 0; }
