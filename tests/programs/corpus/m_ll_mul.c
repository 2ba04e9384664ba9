// truth: unsafe
int main(void){ int a = 100000; long b = a; unsigned c = a; assert(b * a == c * c); return 0; }
