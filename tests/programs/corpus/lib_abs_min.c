// truth: unsafe
#include <stdlib.h>
int main(void){ int x = __VERIFIER_nondet_char(); int y = abs(x); assert(y <= 127); return 0; }
