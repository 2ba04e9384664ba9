// truth: unspecified (the order of evaluation)
int g = 1; int f(void) { g = 2; return 0; }
int main(void) {
int r = g + f(); assert(r == 1 || r == 2);
return 0; }
