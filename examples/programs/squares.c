// The sum of the first n squares, by adding them up: the invariant has degree three.
extern int unknown(void);
extern void assume(int);

int main(void) {
  int n = unknown(), i = 0, sum = 0;
  assume(n >= 0);
  while (i < n) {
    i++;
    sum += i * i;
  }
  assert(6 * sum == n * (n + 1) * (2 * n + 1));
  return 0;
}
