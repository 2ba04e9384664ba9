// truth: unspecified (unsequenced: undefined)
int main(void) {
int a = 1; int r = (a = 2) + (a = 2); assert(r == 4);
return 0; }
