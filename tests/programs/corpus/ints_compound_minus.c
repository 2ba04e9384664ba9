// truth: safe (computed in int, then converted)
int main(void) {
  unsigned char c = 1;
  c -= 2;
  assert(c == 255);
}
