// truth: safe
int main(void){ _Bool b = 1; b += 255; assert(b == 1); b -= 1; assert(b == 0); b = 256; assert(b == 1); b *= 0; assert(!b); return 0; }
