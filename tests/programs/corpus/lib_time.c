// truth: refused
#include <time.h>
int main(void){ long t = time(0); assert(t == 5); return 0; }
