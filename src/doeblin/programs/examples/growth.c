/* Our substitute for the paper's "hard", which is not public: a sum outgrows its counter.
   x >= y alone is not inductive; the proof has to know that y is not negative,
   and that x >= y fails to be preserved only at the first step. */
int main(void) {
  int x = 1;
  int y = 0;
  while (y < 1000) {
    x = x + y;
    y = y + 1;
  }
  assert(x >= y);
  return 0;
}
