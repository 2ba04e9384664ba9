// truth: safe (a hexadecimal constant may be unsigned)
int main(void) {
  assert(0x80000000 > 0 && -1 < 0x7fffffff && -1 > 0x80000000);
}
