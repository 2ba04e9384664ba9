// truth: unsafe (the sum is unsigned)
int main(void) {
  int a = -1;
  unsigned b = 0;
  long s = a + b;
  assert(s == -1);
}
