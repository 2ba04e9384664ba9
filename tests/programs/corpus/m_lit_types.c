// truth: safe
int main(void){ assert(2147483648 > 0 && -2147483648 < 0 && 0x80000000 > 0 && -1 < 2147483648 && -1 > 0x80000000 - 0xffffffff); assert(4294967295 == -1u); return 0; }
