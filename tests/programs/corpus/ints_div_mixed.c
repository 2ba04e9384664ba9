// truth: unsafe (-6 becomes unsigned first)
int main(void) {
  int a = -6;
  unsigned b = 3;
  assert(a / b == -2);
}
