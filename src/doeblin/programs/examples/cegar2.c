/* The paper's "cegar2": m remembers some earlier value of x.
   The invariant needs a disjunction, for the case that n is not positive. */
extern int unknown(void);

int main(void) {
  int n = unknown();
  int x = 0;
  int m = 0;
  while (x < n) {
    if (unknown())
      m = x;
    x = x + 1;
  }
  if (n > 0)
    assert(0 <= m && m < n);
  return 0;
}
