// truth: refused (asm)
int main(void) { int x = 1; __asm__("" : "+r"(x)); assert(x == 1); return 0; }
