// truth: safe (computed in 64 bits)
int main(void) {
  unsigned a = 65536;
  unsigned long p = (unsigned long) a * a;
  assert(p == 4294967296ul);
}
