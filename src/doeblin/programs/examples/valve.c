/* A controller with a retry loop made of gotos and a switch. */
extern int unknown(void);

int clamp(int value, int low, int high) {
  if (value < low)
    return low;
  return value > high ? high : value;
}

int main(void) {
  int state = 0, retries = 0, pressure = 0, opened = 0;
again:
  pressure = pressure + clamp(unknown(), 0, 3);
  switch (state) {
  case 0:
    if (pressure > 10) {
      state = 1;
      opened++;
    }
    break;
  case 1:
    pressure = pressure - 8;
    if (pressure <= 5)
      state = 0;
    else if (retries < 3)
      retries++;
    break;
  default:
    assert(0);
  }
  assert(pressure <= 13);
  assert(opened >= 0);
  if (unknown())
    goto again;
  assert(retries <= 3);
  return 0;
}
