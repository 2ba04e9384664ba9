/* Steps of one, then steps of two: which end is even? */
int main(void) {
  unsigned int x = 0;
  while (x < 100000) {
    if (x < 5000)
      x++;
    else
      x += 2;
  }
  assert(x % 2 == 0);
  return 0;
}
