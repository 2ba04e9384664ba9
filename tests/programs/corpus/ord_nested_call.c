// truth: safe
int g; int inc(int d){ g += d; return g; } int main(void){ int r = inc(inc(1)); assert(r == 2 && g == 2); return 0; }
