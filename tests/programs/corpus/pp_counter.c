// truth: safe
int main(void){ int a = __COUNTER__; int b = __COUNTER__; assert(a == 0 && b == 1); return 0; }
