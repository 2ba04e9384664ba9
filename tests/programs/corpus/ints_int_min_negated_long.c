// truth: safe (in 64 bits)
int main(void) {
  long x = -2147483648;
  assert(-x == 2147483648);
}
