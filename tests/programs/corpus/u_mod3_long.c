// truth: unsafe
int main(void){ unsigned x = 0, i = 0; while (i < 1500) { x += 3000000; i++; } assert(x % 3 == 0 && x >= i); return 0; }
