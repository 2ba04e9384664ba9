/* The paper's "fig1": the loop ends only when y has become positive.
   An invariant: x < 0 || y > 0. */
int main(void) {
  int x = -50;
  int y;
  while (x < 0) {
    x = x + y;
    y = y + 1;
  }
  assert(y > 0);
  return 0;
}
