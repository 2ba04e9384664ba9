// truth: refused
#include <ctype.h>
int main(void){ assert(isdigit('5') == 0); return 0; }
