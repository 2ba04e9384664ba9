// truth: unsafe (34! is divisible by 2^32)
int main(void) {
  unsigned f = 1, i = 1;
  while (i <= 40) { f = f * i; i++; }
  assert(f != 0);
}
