// truth: unsafe
int main(void){ unsigned char c = 0; int n = 0; do { c += 3; n++; } while (c != 0); assert(n == 85); return 0; }
