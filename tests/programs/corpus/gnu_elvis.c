// truth: safe
int main(void){ int i = 5; int x = i ?: 3; assert(x == 5); int g = 0; int y = g++ ?: 7; assert(y == 7 && g == 1); return 0; }
