// truth: unsafe
int main(void) {
unsigned u=10; int m=-5; assert(u/m==-2);
return 0; }
