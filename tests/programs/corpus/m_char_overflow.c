// truth: unsafe
int main(void){ signed char c = 127; c++; assert(c == 128); return 0; }
