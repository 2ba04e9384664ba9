// truth: safe
typedef const int CI; int main(void){ CI x = 4; const unsigned char c = 300; assert(x == 4 && c == 44); return 0; }
