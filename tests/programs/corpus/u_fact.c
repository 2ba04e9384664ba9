// truth: unsafe
int main(void){ unsigned f = 1, i = 1; while (i <= 20) { f = f * i; i++; } assert(f > 1000000000u || f == 0); assert(f % 3 == 0); return 0; }
