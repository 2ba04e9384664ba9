// truth: safe
int main(void) {
int s=0; for(int i=0;i<3;i++){ static int k=0; k+=i; s+=k; } assert(s==4);
return 0; }
