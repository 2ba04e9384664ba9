// truth: safe (the top ends in 5)
int main(void) {
  unsigned x = 0;
  x = x - 1;
  assert(x % 10 == 5);
}
