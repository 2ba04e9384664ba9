// truth: safe (what goes to a stream changes nothing but by its arguments' effects)
#include <assert.h>
#include <stdio.h>
int main(void) {
  int x = 1;
  fprintf(stderr, "x is %d\n", x++);
  fputs("text", stdout);
  fflush(stdout);
  assert(x == 2);
  return 0;
}
