// truth: safe
int main(void){ unsigned char c = 255; assert(c++ == 255 && c == 0); assert((c-- - 1) < 0 && c == 255); return 0; }
