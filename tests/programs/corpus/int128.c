// truth: unsafe
int main(void){ unsigned __int128 x = 18446744073709551615ull; x = x + 1; assert(x == 0); return 0; }
