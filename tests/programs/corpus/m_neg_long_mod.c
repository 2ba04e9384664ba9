// truth: safe
int main(void){ long a = -5; unsigned b = 3; assert(a % b == -2); int c = -5; assert(c % b == 2); return 0; }
