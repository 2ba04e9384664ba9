// truth: safe
int main(void){ unsigned long x = 1; int i = 0; while (i < 40) { x *= 2; i++; } assert(x > 1000); return 0; }
