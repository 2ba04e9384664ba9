// truth: safe (modulo 2^32)
int main(void) {
  long x = -4294967295;
  unsigned y = x;
  assert(y == 1);
}
