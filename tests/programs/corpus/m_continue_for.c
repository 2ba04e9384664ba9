// truth: safe
int main(void){ int n = 0, i; for (i = 0; i < 5; i++) { if (i % 2) continue; n++; } assert(n == 3); return 0; }
