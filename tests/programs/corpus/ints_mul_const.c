// truth: safe (10^11 modulo 2^32 is still above a million)
int main(void) {
  unsigned x = 1000000;
  int i = 0;
  while (i < 3) { x = x * 10; i++; assert(x >= 1000000); }
}
