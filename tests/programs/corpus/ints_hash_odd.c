// truth: safe (an odd number stays odd modulo 2^32)
int main(void) {
  unsigned h = 1;
  int i = 0;
  while (i < 50) { h = h * 33 + 2; i++; }
  assert(h % 2 == 1);
}
