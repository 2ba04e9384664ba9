// truth: unsafe
int f(int k){ static int n; n += k; return n; } int g(void){ return f(1); } int main(void){ g(); int r = f(10); assert(r == 10); return 0; }
