// truth: unsafe (0 - 1 is the top)
int main(void) {
  unsigned n = 0, i = 0, c = 0;
  while (i < n - 1 && c < 9) { i++; c++; }
  assert(c == 0);
}
