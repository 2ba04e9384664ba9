// truth: unsafe
int main(void){ signed char c = 127; ++c; assert(c > 0); return 0; }
