// truth: safe (long holds every unsigned)
int main(void) {
  long a = -1;
  unsigned b = 1;
  assert(a < b);
}
