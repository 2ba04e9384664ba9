// truth: refused (printf writes)
#include <stdio.h>
int main(void) { int x = 1; int *p = &x; printf("%s%n", "ab", p); assert(x == 2); return 0; }
