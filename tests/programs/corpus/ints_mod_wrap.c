// truth: safe (x + 1 is 0)
int main(void) {
  unsigned x = 4294967295u;
  assert((x + 1) % 3 == 0 && x % 3 == 0);
}
