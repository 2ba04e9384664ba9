// truth: safe (the top plus one is 0)
int main(void) {
  unsigned n = 4294967295u, i = 0, c = 0;
  while (i < n + 1 && c < 9) { i++; c++; }
  assert(c == 0);
}
