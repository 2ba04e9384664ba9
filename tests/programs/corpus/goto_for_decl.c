// truth: safe
int main(void) {
int n=0; again: for(int i=n;i<2;i++){ n++; if(n==1) goto again; } assert(n==2);
return 0; }
