// truth: unsafe
int main(void){ unsigned char c = 255; typeof(c) d = c + 1; assert(d == 256); return 0; }
