// truth: unsafe (-3 becomes a large number)
int main(void) {
  int i = -3;
  unsigned n = 2;
  int c = 0;
  while (i < n && c < 9) { i++; c++; }
  assert(c == 5);
}
