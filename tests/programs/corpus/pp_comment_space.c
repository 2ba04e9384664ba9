// truth: safe
#define A 1
int main(void){ int AA = 5; int x = A/**/+AA; assert(x == 6); return 0; }
