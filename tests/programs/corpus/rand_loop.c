// truth: safe
#include <stdlib.h>
int main(void) {
  int r = 0, n = 0;
  while (r != 5 && n < 4) { r = rand(); n++; if (r == -1 || r < -7) assert(0); }
  assert(r >= 0);
  return 0;
}
