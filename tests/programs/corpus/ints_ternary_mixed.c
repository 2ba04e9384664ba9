// truth: unsafe (the common type is unsigned)
int main(void) {
  int a = -1;
  unsigned b = 1;
  long r = 1 ? a : b;
  assert(r == -1);
}
