// truth: safe
int main(void){ int i = 0; for (;;) { if (++i > 4) break; } assert(i == 5); return 0; }
