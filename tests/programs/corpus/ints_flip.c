// truth: unsafe (i wraps around past n)
int main(void) {
  unsigned n = 4294967294u, i = n - 6, c = 0;
  while (i < n && c < 50) { i += 4; c++; }
  assert(c == 2);
}
