// truth: safe (2^31 is nothing special)
int main(void) {
  unsigned i = 2147483645u, c = 0;
  while (i < 2147483650u) { i++; c++; }
  assert(c == 5);
}
