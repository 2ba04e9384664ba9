// truth: safe
int g; int f(void){ return ++g; } int main(void){ assert(f() && g == 1 && f() == 2); return 0; }
