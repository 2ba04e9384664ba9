// truth: safe
#include <stdlib.h>
int main(void){ int c = rand(); assert(c >= 0); return 0; }
