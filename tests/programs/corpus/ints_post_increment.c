// truth: safe (the old value)
int main(void) {
  unsigned char c = 255;
  int old = c++;
  assert(old == 255 && c == 0);
}
