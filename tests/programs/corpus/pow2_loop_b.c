// truth: unsafe
int main(void) {
unsigned char x=1; int n=0; while(x){ x<<=1; n++; } assert(n==7);
return 0; }
