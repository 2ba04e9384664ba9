// truth: refused
int main(void){ int x = 1; asm volatile ("" : "+r"(x)); assert(x == 1); return 0; }
