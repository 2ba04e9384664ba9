// truth: refused (floating point)
#include <math.h>
int main(void) { int x = sqrt(3) * 2; assert(x == 3); return 0; }
