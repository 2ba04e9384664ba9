// truth: safe
#include <stdlib.h>
int main(void){ long x = -5000000000L; assert(labs(x) == 5000000000L); return 0; }
