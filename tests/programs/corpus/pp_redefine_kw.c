// truth: unsafe
#define int unsigned
int main(void){ int x = 0; x--; assert(x < 0); return 0; }
