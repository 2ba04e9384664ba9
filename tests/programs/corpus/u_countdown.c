// truth: unsafe
int main(void){ unsigned i; int c = 0; for (i = 5; i >= 0; i--) { c++; if (c > 10) break; } assert(c <= 6); return 0; }
