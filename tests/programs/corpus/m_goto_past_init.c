// truth: safe
int main(void){ int i = 0; L: ; int x = 5; x++; if (i++ < 2) goto L; assert(x == 6 && i == 3); return 0; }
