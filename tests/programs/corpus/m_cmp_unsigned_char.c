// truth: safe
int main(void){ unsigned char a = 255; signed char b = -1; assert(a != b && (unsigned char)b == a && a > b); return 0; }
