// truth: unsafe (2^32 is 0)
int main(void) {
  unsigned x = 1;
  int i = 0;
  while (i < 33) { x = x + x; i++; assert(x > 0); }
}
