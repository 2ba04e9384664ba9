// truth: unsafe (the sum wraps around)
int main(void) {
  unsigned a = 4294967295u, b = 4294967293u, m = (a + b) / 2;
  assert(m >= b);
}
