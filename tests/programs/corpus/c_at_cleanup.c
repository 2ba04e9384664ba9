// truth: refused (the attribute cleanup)
int g; void c(int *p) { g++; } int main(void) { { int x __attribute__((cleanup(c))) = 1; } assert(g == 1); return 0; }
