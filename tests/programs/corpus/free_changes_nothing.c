// truth: safe (what is allocated and freed is not g)
#include <stdlib.h>
int g = 0;
int main(void) { int *p = malloc(4); free(p); assert(g == 0); return 0; }
