// truth: safe
static int g; static int g; int main(void){ assert(g == 0); g = 4; assert(g == 4); return 0; }
