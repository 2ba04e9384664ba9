// truth: safe (the usual remedy)
int main(void) {
  unsigned a = 4294967295u, b = 4294967293u, m = b + (a - b) / 2;
  assert(m >= b && m <= a);
}
