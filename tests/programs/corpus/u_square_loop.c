// truth: unsafe
int main(void){ unsigned x = 3; int i = 0; while (i < 6) { x = x * x; i++; } assert(x == 0 || x > 3000000000u); return 0; }
