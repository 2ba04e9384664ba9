// truth: safe
int main(void){ unsigned i = 10; int n = 0; while (i != 0) { i -= 2; n++; } assert(n == 5); return 0; }
