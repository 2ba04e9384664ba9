// truth: unsafe
int main(void){ int __attribute__((mode(QI))) x = 200; assert(x == 200); return 0; }
