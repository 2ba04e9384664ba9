/* Unsafe: the buffer is one element short when length is a multiple of four. */
extern int unknown(void);

int main(void) {
  int length = unknown();
  int used = 0, capacity = 4;
  assume(length >= 1 && length <= 100);
  while (used < length) {
    if (used > capacity)
      capacity = capacity + 4;
    assert(used < capacity);
    used = used + 1;
  }
  return 0;
}
