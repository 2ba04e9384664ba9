// truth: safe (the cast wraps around)
int main(void) {
  unsigned long i = 4294967293ul;
  int c = 0;
  while ((unsigned) i > 5) { i++; c++; }
  assert(c == 3);
}
