// truth: unsafe
typedef unsigned char u8; typedef u8 byte; int main(void){ byte b = 250; b += 10; assert(b == 260); return 0; }
