// truth: safe
int main(void){ unsigned short a = 1, b = 2; assert(a - b < 0); assert((unsigned short)(a - b) == 65535); return 0; }
