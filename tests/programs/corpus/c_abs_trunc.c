// truth: safe
#include <stdlib.h>
int main(void) {
assert(abs((int) 4294967295L) == 1);
return 0; }
