// truth: unsafe (an unsigned number is never negative, so ten turns)
int main(void) {
  unsigned i = 3, c = 0;
  while (i >= 0 && c < 10) { i--; c++; }
  assert(c == 4);
}
