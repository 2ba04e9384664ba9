// truth: safe
int main(void){ int x; unsigned char c; x = c = 300; assert(x == 44); long l; int i; l = i = 4294967297L; assert(l == 1); return 0; }
