// truth: unsafe (-8 is reached after two steps)
int main(void) {
  int x = -10, c = 0;
  while (x % 4 != 0) { x++; c++; }
  assert(c == 3);
}
