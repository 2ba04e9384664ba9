// truth: safe
int g = 7; int main(void){ int g = 1; { extern int g; assert(g == 7); g = 8; } assert(g == 1); { extern int g; assert(g == 8);} return 0; }
