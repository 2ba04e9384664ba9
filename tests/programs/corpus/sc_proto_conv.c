// truth: safe
int f(unsigned char); int main(void){ assert(f(257) == 1); return 0; } int f(unsigned char c){ return c; }
