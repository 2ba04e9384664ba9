// truth: safe
int main(void){ unsigned x = 1; int n = 0; while (n < 31) { x = x + x; n++; } assert(x != 0); return 0; }
