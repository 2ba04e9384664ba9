// truth: unsafe
int main(void){ unsigned char i = 9; int n = 0; while (i != 1) { i -= 2; n++; if (n > 3) break; } assert(n < 4); return 0; }
