// truth: unsafe (13! wraps around)
int main(void) {
  unsigned f = 1, i = 1;
  while (i <= 14) { unsigned g = f * i; assert(g >= f); f = g; i++; }
}
