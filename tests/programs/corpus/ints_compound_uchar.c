// truth: safe (computed in int, then converted)
int main(void) {
  unsigned char c = 200;
  c *= 2;
  assert(c == 144);
}
