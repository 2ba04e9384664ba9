// truth: safe
int main(void){ int x = 3.7; assert(x == 3); return 0; }
