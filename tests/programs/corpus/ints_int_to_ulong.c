// truth: safe (modulo 2^64)
int main(void) {
  int x = -2;
  unsigned long y = x;
  assert(y == 18446744073709551614ul);
}
