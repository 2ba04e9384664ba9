// truth: unsafe
int main(void) {
_Bool b = 1; int r = 0; switch (b) { case 2: r = 1; } assert(!(r == 0));
return 0; }
