// truth: safe
int main(void) {
  int c, n = 0;
  while ((c = getchar()) != -1 && n < 3) n++;
  assert(c >= -1 && c <= 255);
  return 0;
}
