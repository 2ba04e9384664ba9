// truth: safe
int main(void){ assert((1 + 2 * 3 << 1) == 14); assert((1 == 1 & 3) == 1); assert((4 & 3 == 3) == 0); assert((2 > 1 == 1) == 1); assert((1 ? 2 : 0 ? 3 : 4) == 2); assert((6 ^ 3 | 1) == 5); return 0; }
