// truth: unsafe (the second step wraps around)
int main(void) {
  unsigned i = 0, c = 0;
  while (i < 4294967295u && c < 5) { i += 4294967294u; c++; }
  assert(c == 1);
}
