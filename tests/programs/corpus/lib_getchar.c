// truth: safe
#include <stdio.h>
int main(void){ int c = getchar(); assert(c >= -1 && c <= 255); return 0; }
