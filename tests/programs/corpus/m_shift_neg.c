// truth: safe
int main(void){ int x = -8; assert(x >> 1 == -4 && x >> 3 == -1 && (-1 >> 31) == -1); unsigned u = 0x80000000; assert(u >> 31 == 1 && u << 1 == 0); return 0; }
