// truth: safe
int main(void){ int x = 0, y; if (x = 3) y = 1; else y = 2; assert(x == 3 && y == 1); return 0; }
