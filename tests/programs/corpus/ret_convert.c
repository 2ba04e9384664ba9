// truth: unsafe
unsigned char f(int x){ return x; } int main(void){ assert(f(256) == 256); return 0; }
