// truth: unsafe
int main(void) {
unsigned n=3; while(n-- > 0); assert(n==0);
return 0; }
