// truth: unsafe
int main(void){ unsigned u = 1; unsigned long n = 31; unsigned long r = (u << n) * 2; assert(r == 4294967296ul); return 0; }
