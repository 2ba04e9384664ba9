// truth: unsafe
typedef unsigned char T; int main(void){ T x = 255; { typedef int T; T y = 256; x = y; } T z = 256; assert(z == 256 || x == 1); return 0; }
