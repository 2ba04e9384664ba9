// truth: unsafe (the sum passes 2^32)
int main(void) {
  unsigned s = 0, i = 0, last = 0;
  while (i < 6000) { last = s; s += i * i; i += 10; assert(s >= last); }
}
