// truth: safe
int main(void){ int x = 5; assert((3 < x) + (x < 9) == 2); assert(1 < x < 2); assert((5 > 4 > 3) == 0); return 0; }
