// truth: safe (arithmetic shift)
int main(void) {
  int x = -5;
  assert(x >> 1 == -3);
}
