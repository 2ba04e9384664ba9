// truth: safe (sizeof is unsigned long)
int main(void) {
  int i = -1;
  assert(i > sizeof(int));
}
