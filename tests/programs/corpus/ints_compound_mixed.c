// truth: safe (unsigned, then back)
int main(void) {
  int x = 10;
  x -= 20u;
  assert(x == -10);
}
