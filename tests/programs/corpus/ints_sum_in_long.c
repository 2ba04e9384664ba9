// truth: safe (the sum is long)
int main(void) {
  int a = -1;
  unsigned b = 0;
  long s = (long) a + b;
  assert(s == -1);
}
