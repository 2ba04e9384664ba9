#include <assert.h>
extern int unknown(void);

int main(void) {
  int n = unknown();
  if (n < 1 || n > 100000)
    return 0;
  int a[n], b[n];
  for (int i = 0; i < n; i++)
    a[i] = unknown();
  for (int i = 0; i < n; i++)
    b[i] = a[i];
  for (int i = 0; i < n; i++)
    assert(b[i] == a[i]);
  return 0;
}
