// truth: safe
#include <stdlib.h>
int main(void) {
assert(abs(-5) == 5 && labs(-5L) == 5);
return 0; }
