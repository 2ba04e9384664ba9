// truth: unsafe (-1 + 3, and -3 + 3 is below)
int main(void) {
  unsigned x = unknown() + 3;
  assert(x >= 3);
}
