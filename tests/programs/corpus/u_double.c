// truth: unsafe
int main(void){ unsigned x = 1; int n = 0; while (n < 40) { x = x + x; n++; } assert(x != 0); return 0; }
