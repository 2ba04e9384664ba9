// truth: unsafe
int main(void) {
unsigned i; int c=0; for(i=3;i>=0;i--){ c++; if(c>10) break; } assert(c==4);
return 0; }
