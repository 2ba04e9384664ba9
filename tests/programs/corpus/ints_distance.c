// truth: safe (3 - 5 is near the top)
int main(void) {
  unsigned a = 3, b = 5, d = a - b;
  assert(d > 5);
}
