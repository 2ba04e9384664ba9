// truth: unsafe
int main(void){ signed char c = 127; c = c + 1; assert(c > 0); return 0; }
