// truth: unsafe
enum c { R, G, B }; int main(void){ enum c x = B; x = x + 1; assert(x == R); return 0; }
