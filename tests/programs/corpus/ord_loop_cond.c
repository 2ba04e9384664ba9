// truth: unspecified
int g = 5; int dec(void){ return --g; } int main(void){ int n = 0; while (g + dec() > 3) n++; assert(n == 3); return 0; }
