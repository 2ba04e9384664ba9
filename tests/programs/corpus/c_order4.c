// truth: unspecified (unsequenced: undefined)
int main(void) {
int i = 1; i = i++ + 1; assert(i);
return 0; }
