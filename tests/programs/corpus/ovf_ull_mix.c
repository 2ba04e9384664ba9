// truth: safe
int main(void){ int a = -1; unsigned long long b = 1; assert(a + b == 0); assert(a * b == 18446744073709551615ull); return 0; }
