// truth: unsafe
int main(void){ unsigned long u = 1; long l = -1; assert(l < u); return 0; }
