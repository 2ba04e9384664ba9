// truth: unsafe
int g; int f(void){ g++; return 0; } int main(void){ (f() && f()) || f(); assert(g == 1); return 0; }
