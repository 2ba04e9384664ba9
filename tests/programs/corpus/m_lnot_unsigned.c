// truth: safe
int main(void){ unsigned u = 3; assert(!u - 1 < 0); assert((u > 2) - 2 < 0); assert((u && 1) - 2 < 0); return 0; }
