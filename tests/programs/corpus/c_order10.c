// truth: unspecified (the order of evaluation)
int g = 1; int f(void) { g++; return 1; }
int main(void) {
g += f(); assert(g == 3 || g == 2);
return 0; }
