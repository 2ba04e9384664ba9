// truth: safe
typedef unsigned char T; int main(void){ T T=255; T++; assert(T==0); return 0; }
