// truth: safe (plain char is signed, and its sum an int)
int main(void) {
  char c = 127;
  c++;
  assert(c == -128);
}
