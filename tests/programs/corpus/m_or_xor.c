// truth: safe
int main(void){ unsigned char a = 12, b = 10; assert((a | b) == 14 && (a ^ b) == 6 && (a & b) == 8 && (a & ~b) == 4); return 0; }
