// truth: safe
int main(void){ int i = 3, n = 0; goto in; for (i = 0; i < 5; i++) { in: n++; } assert(n == 2 && i == 5); return 0; }
