// truth: unspecified
int g; int f(void){ return ++g; } int main(void){ assert(f() < f()); return 0; }
