// truth: unsafe (promoted first: -1)
int main(void) {
  unsigned char c = 0;
  assert(~c == 255);
}
