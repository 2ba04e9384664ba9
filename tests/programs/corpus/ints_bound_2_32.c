// truth: safe (64 bits go on)
int main(void) {
  unsigned long i = 4294967293ul;
  int c = 0;
  while (i < 4294967298ul) { i++; c++; }
  assert(c == 5);
}
