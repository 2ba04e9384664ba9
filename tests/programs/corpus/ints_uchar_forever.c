// truth: unsafe (a byte is always below 256)
int main(void) {
  unsigned char i;
  int c = 0;
  for (i = 0; i < 256 && c < 300; i++) c++;
  assert(c == 256);
}
