// truth: safe (the sign of the dividend)
int main(void) {
  int a = 7, b = -2;
  assert(a % b == 1 && -7 % -2 == -1);
}
