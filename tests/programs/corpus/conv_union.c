// truth: refused
union u { int i; unsigned char c; }; int main(void){ union u x; x.i = 257; assert(x.c == 1); return 0; }
