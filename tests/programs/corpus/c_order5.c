// truth: unspecified (unsequenced: undefined)
int main(void) {
int i = 1; i += i++; assert(i);
return 0; }
