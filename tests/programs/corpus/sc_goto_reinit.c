// truth: unsafe
int main(void){ int n = 0; L: { int x = 0; x++; n += x; } if (n < 3) goto L; assert(n == 1); return 0; }
