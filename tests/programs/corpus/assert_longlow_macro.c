// truth: safe
#include <assert.h>
int main(void){ long x = 4294967296L; assert(x); return 0; }
