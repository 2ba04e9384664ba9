// truth: safe
#include <stddef.h>
int main(void){ size_t i = 0; i--; assert(i > 0); return 0; }
