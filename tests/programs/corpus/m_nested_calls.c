// truth: safe
int inc(int x){ return x + 1; } int dbl(int x){ return x * 2; } int main(void){ assert(dbl(inc(dbl(inc(0)))) == 6); return 0; }
