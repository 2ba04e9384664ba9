// truth: unspecified
int g; int f(void){ return ++g; } int sub(int a, int b){ return a - b; } int main(void){ assert(sub(f(), f()) == -1); return 0; }
