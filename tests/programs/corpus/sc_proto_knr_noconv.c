// truth: unsafe
int f(); int main(void){ assert(f(257) == 1); return 0; } int f(int c){ return c; }
