// truth: safe
#define ADD(a, b) ((a) + (b))
int main(void){ int x = ADD(1,
  2); assert(x == 3); return 0; }
