// truth: safe
int main(void){ unsigned char c = 200; c = c * 2; assert(c == 144); c += 200; assert(c == 88); c -= 100; assert(c == 244); c /= 2; assert(c == 122); c <<= 2; assert(c == 232); c %= 7; assert(c == 1); return 0; }
