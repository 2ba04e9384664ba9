// truth: unsafe
int main(void){ unsigned x = 65536; unsigned y = x * x; assert(y >= x); return 0; }
