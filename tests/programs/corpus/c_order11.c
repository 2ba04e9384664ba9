// truth: unspecified (the order of evaluation)
int f(void) { static int c; return ++c; }
int main(void) {
int r = f() - f(); assert(r != 7);
return 0; }
