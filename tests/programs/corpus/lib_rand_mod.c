// truth: safe
#include <stdlib.h>
int main(void){ int x = rand() % 6 + 1; assert(x >= 1 && x <= 6); return 0; }
