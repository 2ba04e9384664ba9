// truth: safe (a long)
int main(void) {
  long i = 2147483645;
  int c = 0;
  while (i < 2147483650) { i++; c++; }
  assert(c == 5);
}
