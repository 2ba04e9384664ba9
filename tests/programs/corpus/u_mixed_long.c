// truth: safe
int main(void){ unsigned u = 4294967295u; long l = -1; assert(l < u); assert((int)u == -1); return 0; }
