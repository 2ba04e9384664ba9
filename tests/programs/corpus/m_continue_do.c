// truth: safe
int main(void){ int i = 0, n = 0; do { if (i == 2) continue; n++; } while (i++ < 4); assert(n == 4 && i == 5); return 0; }
