// truth: safe
#include <stdlib.h>
int main(void){ int x = __VERIFIER_nondet_char(); int y = abs(x); assert(y >= 0 && (y == x || y == -x)); return 0; }
