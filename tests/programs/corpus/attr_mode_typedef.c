// truth: unsafe
typedef int small __attribute__((mode(HI))); int main(void){ small x = 70000; assert(x == 70000); return 0; }
