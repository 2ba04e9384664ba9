// truth: unsafe
int main(void){ int n = 0; for (unsigned char i = 0; i < 256; i++) { if (++n > 300) break; } assert(n <= 256); return 0; }
