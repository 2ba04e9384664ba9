// truth: refused (the attribute mode)
typedef unsigned int b __attribute__((mode(QI))); int main(void) { b x = 256; assert(x == 0); return 0; }
