// truth: refused
int g; int main(void){ __asm__ ("nop" ::: "memory"); assert(g == 0); return 0; }
