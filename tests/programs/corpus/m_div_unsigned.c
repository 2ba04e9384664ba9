// truth: safe
int main(void){ int a = -7; unsigned b = 2; assert(a / b == 2147483644u && a % b == 1); return 0; }
