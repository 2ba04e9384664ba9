// truth: unsafe (-1 becomes the top)
int main(void) {
  long a = -1;
  unsigned long b = 1;
  assert(a < b);
}
