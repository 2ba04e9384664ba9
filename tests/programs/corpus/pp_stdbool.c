// truth: safe
#include <stdbool.h>
int main(void){ bool b = 5; assert(b == true && sizeof(bool) == 1 && true == 1 && false == 0); return 0; }
