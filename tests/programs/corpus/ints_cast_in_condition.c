// truth: safe (casts wrap around)
int main(void) {
  int x = -5;
  assert((unsigned) x > 5 && (unsigned char) x == 251);
}
