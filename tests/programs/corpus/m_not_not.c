// truth: safe
int main(void){ int x = 5; assert(!!x == 1 && !x == 0 && !(x > 6) == 1 && -!x == 0); return 0; }
