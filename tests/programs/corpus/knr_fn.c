// truth: safe
int f(a, b) int a; char b; { return a + b; } int main(void){ assert(f(1, 2) == 3); return 0; }
