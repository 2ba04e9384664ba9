// truth: safe
int main(void){ unsigned u = -1; long l = u; int i = u; long m = i; assert(l == 4294967295L && m == -1); return 0; }
