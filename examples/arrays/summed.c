#include <assert.h>
extern int unknown(void);

int main(void) {
  int n = unknown();
  if (n < 1 || n > 100000)
    return 0;
  int a[n];
  int forth = 0, back = 0;
  for (int i = 0; i < n; i++)
    a[i] = unknown();
  for (int i = 0; i < n; i++)
    forth += a[i];
  for (int i = 0; i < n; i++)
    back += a[i];
  assert(forth == back);
  return 0;
}
