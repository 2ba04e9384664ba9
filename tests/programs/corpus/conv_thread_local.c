// truth: refused
#include <signal.h>
int g; void h(int s){ g = 1; } int main(void){ signal(2, h); raise(2); assert(g == 0); return 0; }
