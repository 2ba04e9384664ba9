// truth: unsafe
int main(void){ unsigned long x = 1; int i = 0; while (i < 64) { x *= 2; i++; } assert(x > 0); return 0; }
