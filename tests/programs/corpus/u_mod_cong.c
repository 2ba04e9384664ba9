// truth: unsafe
int main(void){ unsigned x = 0; int i = 0; while (i < 3) { x += 2000000001u; i++; } assert(x % 3 == 0); return 0; }
