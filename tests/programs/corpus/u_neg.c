// truth: safe
int main(void){ unsigned u = 5; assert(-u == 4294967291u && -u > 0 && ~u == 4294967290u && -(int)u < 0); return 0; }
