// truth: safe
int main(void){ int x = -10; x /= 2u; assert(x == 2147483643); return 0; }
