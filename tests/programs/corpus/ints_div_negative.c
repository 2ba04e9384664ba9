// truth: safe (towards zero)
int main(void) {
  int a = -7, b = 2;
  assert(a / b == -3 && a % b == -1);
}
