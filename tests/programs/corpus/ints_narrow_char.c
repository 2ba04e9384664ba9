// truth: safe (200 - 256)
int main(void) {
  int x = 200;
  signed char c = x;
  assert(c == -56);
}
