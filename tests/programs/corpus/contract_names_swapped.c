// truth: refused
/*@ ensures \result == a; */
int f(int a, int b);
int f(int b, int a) { return b; }
int main(void) { f(1, 2); return 0; }
