// truth: unsafe
int main(void){ int g = 1; int y = g++ ?: 7; assert(y == 2); return 0; }
