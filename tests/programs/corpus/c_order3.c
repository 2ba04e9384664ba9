// truth: unspecified (unsequenced: undefined)
int main(void) {
int i = 1; int j = i++ + i; assert(j);
return 0; }
