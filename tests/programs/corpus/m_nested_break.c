// truth: safe
int main(void){ int n = 0; for (int i = 0; i < 3; i++) { for (int j = 0; j < 3; j++) { if (j == 1) break; n++; } } assert(n == 3); return 0; }
