// truth: safe
int main(void){ _Bool a = 0, b = 1; assert(a - b == -1); assert((_Bool)(a - b) == 1); a -= b; assert(a == 1); return 0; }
