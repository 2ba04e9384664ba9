// truth: safe (any value but zero is 1)
int main(void) {
  _Bool b = 256;
  b += 255;
  assert(b == 1);
}
