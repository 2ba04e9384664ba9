// truth: unsafe
int main(void) {
unsigned char c; int n=0; c=10; while((c-=3)>=0 && n<300) n++; assert(n<300);
return 0; }
