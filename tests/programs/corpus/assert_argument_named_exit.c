// truth: safe
#include <assert.h>
int main(){ int exit = 5; assert(exit==5); }
