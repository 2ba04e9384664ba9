// truth: unsafe (a - b is 2^32 - (b - a))
int main(void) {
  unsigned a = unknown(), b = unknown();
  assume(a < b);
  assert(a - b > b);
}
