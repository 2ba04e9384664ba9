// truth: safe
int main(void){ int x = 0; assert(x == 0 || 1 / x > 0); assert(!(x && 1 / x)); return 0; }
