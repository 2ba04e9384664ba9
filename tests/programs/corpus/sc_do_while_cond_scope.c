// truth: safe
int x = 9; int main(void){ int n = 0; do { int x = 0; n++; x = n; } while (x < 9); assert(n == 1); return 0; }
