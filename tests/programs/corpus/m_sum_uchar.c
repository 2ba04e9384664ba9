// truth: unsafe
int main(void){ unsigned char s = 0; for (int i = 0; i < 24; i++) s += i; assert(s == 276); return 0; }
