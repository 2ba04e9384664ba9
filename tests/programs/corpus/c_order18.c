// truth: unspecified (the order of evaluation)
int g; void set(int v) { g = v; } int k(void) { set(4); return 1; }
int main(void) {
int r = k() * (g + 0); assert(r >= 0);
return 0; }
