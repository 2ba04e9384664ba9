// truth: unsafe
#undef assert
#define assert(c) if (c) __VERIFIER_error()
int main(void){ int x = 1; assert(x == 1); return 0; }
