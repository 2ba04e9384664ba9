// truth: safe
static int s; int main(void){ static long t; assert(s == 0 && t == 0); return 0; }
