// truth: unspecified (unsequenced: undefined)
int main(void) {
int a[1]; int i = 0; i = i + (i = 0); assert(i == 0);
return 0; }
