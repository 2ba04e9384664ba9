// truth: safe
int main(void) {
int x = 3; assert(__builtin_expect(x > 2, 1)); assert(__builtin_expect(x, 0) == 3);
return 0; }
