// truth: unspecified (the order of evaluation)
#include <stdlib.h>
int zero(void) { return 0; }
int main(void) {
int r = (exit(0), 1) + 1 / zero(); assert(r);
return 0; }
