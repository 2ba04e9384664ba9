// truth: unsafe
int main(void){ short s = 32760; int n = 0; while (n < 20) { s++; n++; } assert(s > 0); return 0; }
