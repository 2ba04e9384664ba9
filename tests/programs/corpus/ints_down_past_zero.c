// truth: safe (below zero is the top)
int main(void) {
  unsigned x = 5, c = 0;
  while (x < 10) { x--; c++; }
  assert(c == 6 && x == 4294967295u);
}
