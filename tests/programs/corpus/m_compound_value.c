// truth: safe
int main(void){ unsigned char c = 255; int x = (c += 1); assert(x == 0); int y = c++ + 5; assert(y == 5 && c == 1); int z = --c; assert(z == 0); z = --c; assert(z == 255); return 0; }
