// truth: safe
int main(void){ unsigned char c = 255; assert(c << 4 == 4080 && c >> 4 == 15); assert(1u << 31 == 2147483648u && 1L << 40 == 1099511627776L); return 0; }
