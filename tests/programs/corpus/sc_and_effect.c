// truth: safe
int main(void){ int x = 0, y = 0; x++ && y++; assert(x == 1 && y == 0); x++ && y++; assert(x == 2 && y == 1); x-- || y--; assert(x == 1 && y == 1); return 0; }
