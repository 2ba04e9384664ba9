// truth: safe
int main(void){ unsigned char c = 0; int n = 0; do { c += 3; n++; } while (c != 0 && n < 1000); assert(n == 256); return 0; }
