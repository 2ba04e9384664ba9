// truth: safe
int main(void) {
unsigned char c = 255; int r = 0; switch (c) { case -1: r = 1; break; default: r = 3; } assert(r == 3);
return 0; }
