// truth: safe
int main(void){ int i = 1; int r = (i == 1) ? i++ : 5; assert(r == 1 && i == 2); return 0; }
