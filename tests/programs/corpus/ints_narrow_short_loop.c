// truth: safe (conversion wraps around, without overflow)
int main(void) {
  short s = 32760;
  int c = 0;
  while (s > 0) { s += 3; c++; }
  assert(c == 3 && s == -32767);
}
