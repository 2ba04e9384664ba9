extern int unknown(void);

int main(void) {
  int i = unknown(), j = unknown();
  int x = i, y = j;
  while (x != 0) {
    x--;
    y--;
  }
  if (i == j)
    assert(y == 1);
  return 0;
}
