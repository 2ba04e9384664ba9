// truth: unsafe (four quarters of 2^32 are 0)
int main(void) {
  unsigned n = unknown(), i = 0, s = 0;
  assume(n < 8);
  while (i < n) { s += 1073741824u; i++; }
  assert(s >= i);
}
