// truth: unsafe
int main(void){ int x = 10; x += 4294967295u; assert(x == 10); return 0; }
