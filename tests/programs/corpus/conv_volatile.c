// truth: refused
volatile int v; int main(void){ v = 1; assert(v == 1); return 0; }
