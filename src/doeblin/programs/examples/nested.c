/* The paper's "nested": two loops, each with an invariant of its own. */
extern int unknown(void);

int main(void) {
  int n = unknown();
  int i, j;
  if (n <= 0)
    return 0;
  for (i = 0; i < n; i++) {
    for (j = 0; j < n; j++) {
      assert(0 <= i && i <= n);
      assert(0 <= j && j <= n);
    }
  }
  return 0;
}
