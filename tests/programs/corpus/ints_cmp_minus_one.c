// truth: safe (-1 becomes the top)
int main(void) {
  int a = -1;
  unsigned b = 1;
  assert(a > b);
}
