// truth: unsafe (h * 33 wraps around in the fourth turn)
int main(void) {
  unsigned h = 5381;
  int i = 0;
  while (i < 8) { unsigned g = h * 33 + 1; assert(g > h); h = g; i++; }
}
