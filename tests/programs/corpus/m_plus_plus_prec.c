// truth: safe
int main(void){ int x = 5; int y = x+++2; assert(y == 7 && x == 6); int z = - -x; assert(z == 6); int w = x - -1; assert(w == 7); return 0; }
