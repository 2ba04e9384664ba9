// truth: safe
int main(void){ _Bool b = 0; b--; assert(b == 1); b--; assert(b == 0); return 0; }
