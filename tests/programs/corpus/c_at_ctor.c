// truth: refused (the attribute constructor)
int g; __attribute__((constructor)) void init(void) { g = 1; } int main(void) { assert(g == 1); return 0; }
