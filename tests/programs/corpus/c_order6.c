// truth: unspecified (the order of evaluation)
int g = 1; int f(void) { return g++; } int h(int a, int b) { return a + b; }
int main(void) {
assert(h(f(), g) != 99);
return 0; }
