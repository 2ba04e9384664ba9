// truth: safe (wraps around below the increment)
int main(void) {
  unsigned x = 1;
  int i = 0;
  while (i < 3) { x = x * 1664525u + 1013904223u; i++; assert(x >= 1013904223u); }
}
