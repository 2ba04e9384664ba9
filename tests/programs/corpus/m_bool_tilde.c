// truth: safe
int main(void){ _Bool b = 1; assert(~b == -2 && -b == -1 && !b == 0 && +b == 1); return 0; }
