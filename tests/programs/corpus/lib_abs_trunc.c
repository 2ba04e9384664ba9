// truth: unsafe
#include <stdlib.h>
int main(void){ long x = -4294967301L; assert(abs(x) == 4294967301L); return 0; }
