// truth: safe
typedef int T; int main(void){ T a = 1; { int T = 3; a = T + 1; } T b = 2; assert(a == 4 && b == 2); return 0; }
