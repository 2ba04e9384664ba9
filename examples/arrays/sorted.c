#include <assert.h>
extern int unknown(void);

int main(void) {
  int n = unknown();
  if (n < 1 || n > 100000)
    return 0;
  int highest[n];
  highest[0] = unknown();
  for (int i = 1; i < n; i++) {
    int x = unknown();
    highest[i] = x > highest[i - 1] ? x : highest[i - 1];
  }
  for (int i = 1; i < n; i++)
    assert(highest[i - 1] <= highest[i]);
  return 0;
}
