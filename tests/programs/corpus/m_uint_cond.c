// truth: safe
int main(void){ unsigned u = 0; if (u - 1 > 5) u = 7; assert(u == 7); if (-1 > 0u) u = 8; assert(u == 8); return 0; }
