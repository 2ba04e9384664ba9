/* Multiples of seven, times three: what the first loop leaves behind must be known in the second. */
int main(void) {
  int n = unknown(), a[50], b[50];
  assume(0 <= n && n <= 50);
  for (int i = 0; i < n; i++) {
    int x = unknown();
    assume(0 <= x && x < 99);
    a[i] = 7 * x;
  }
  for (int i = 0; i < n; i++) b[i] = 3 * a[i];
  for (int i = 0; i < n; i++) assert(b[i] % 21 == 0);
}
