// truth: unsafe (the 48th number is beyond 32 bits)
int main(void) {
  unsigned a = 0, b = 1, i = 0;
  while (i < 60) { unsigned t = a + b; a = b; b = t; i++; assert(b >= a); }
}
