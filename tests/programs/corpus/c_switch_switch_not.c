// truth: unsafe
int main(void) {
int r = 0; switch (1) switch (2) { case 1: r = 5; } assert(!(r == 0));
return 0; }
