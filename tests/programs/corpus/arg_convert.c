// truth: unsafe
int f(unsigned char c){ return c; } int main(void){ assert(f(256) == 256); return 0; }
