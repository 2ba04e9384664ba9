// truth: refused
int f(void){ return 1; } int main(void){ int (*p)(void) = f; assert(p() == 1); return 0; }
