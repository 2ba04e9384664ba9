// truth: safe
int main(void){ int s = 0; for (int i = 0; i < 4; i++) { int t = 0; t++; s += t; } assert(s == 4); return 0; }
