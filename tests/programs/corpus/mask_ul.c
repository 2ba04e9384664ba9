// truth: safe
int main(void) {
long x=-1; assert((x&0xffffffff)==4294967295L); assert((x&0xff)==255); int z=-1; assert((z&0xffffffff)==4294967295u);
return 0; }
