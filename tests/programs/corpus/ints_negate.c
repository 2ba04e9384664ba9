// truth: safe (minus one is the top)
int main(void) {
  unsigned x = 1;
  int i = 0;
  while (i < 9) { x = -x; i++; }
  assert(x == 4294967295u);
}
