// truth: safe
int main(void){ int x = 7; assert(__builtin_expect(x, 0) == 7); return 0; }
