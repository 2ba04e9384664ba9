// truth: safe (the new value, converted)
int main(void) {
  unsigned short c = 0;
  int now = --c;
  assert(now == 65535);
}
