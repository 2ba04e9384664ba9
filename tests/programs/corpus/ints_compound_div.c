// truth: unsafe (-10 becomes unsigned first)
int main(void) {
  int x = -10;
  x /= 5u;
  assert(x == -2);
}
