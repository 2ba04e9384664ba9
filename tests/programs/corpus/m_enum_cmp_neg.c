// truth: safe
enum c { R, G, B }; int main(void){ enum c x = R; long l = x - 1; assert(l == 4294967295L); return 0; }
