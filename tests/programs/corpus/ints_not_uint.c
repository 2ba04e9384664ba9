// truth: safe (all ones)
int main(void) {
  unsigned x = 0;
  assert(~x == 4294967295u);
}
