// truth: unsafe
int main(void) {
int x=-7; unsigned u=10; x%=u; assert(x==-7);
return 0; }
