// truth: safe
int main(void){ unsigned x = 4294967295u; assert(__builtin_expect(x, 0) == 4294967295L); return 0; }
