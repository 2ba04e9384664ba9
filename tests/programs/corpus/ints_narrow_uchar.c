// truth: safe (modulo 256)
int main(void) {
  int x = -1;
  unsigned char c = x;
  assert(c == 255);
}
