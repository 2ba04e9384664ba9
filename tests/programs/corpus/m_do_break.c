// truth: safe
int main(void){ int i = 0; do { i++; break; i = 9; } while (1); assert(i == 1); return 0; }
