// truth: unsafe (computed in 32 bits)
int main(void) {
  unsigned a = 65536;
  unsigned long p = a * a;
  assert(p == 4294967296ul);
}
