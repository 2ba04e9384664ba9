// truth: safe
int a = 1, b = 2, c; int main(void){ int x = a, y = x + b, z = y++ + x; assert(x == 1 && y == 4 && z == 4 && c == 0); return 0; }
