// truth: safe (both become int)
int main(void) {
  short a = -1;
  unsigned short b = 65535;
  assert(a != b);
}
