// truth: unsafe
int main(void){ _Bool b = 0; b++; b++; b++; assert(b == 0); return 0; }
