// truth: safe
int main(void){ unsigned short i = 65530; int n = 0; while (i > 10) { i++; n++; } assert(n == 6); return 0; }
