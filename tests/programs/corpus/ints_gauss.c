// truth: safe (n * (n + 1) wraps around before it is halved)
int main(void) {
  unsigned i = 0, s = 0, n = 100000;
  while (i < 3) { s = n * (n + 1) / 2; i++; }
  assert(s == 5000050000u % 4294967296u || s == 705082704u || s == 2852566352u);
}
