// truth: safe (decimal constants become long)
int main(void) {
  assert(-2147483648 < 0 && 2147483648 > 0);
}
