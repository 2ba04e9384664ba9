// truth: safe
int main(void) {
int i=0,j=0; for(;i++,j<5;j++); assert(i==6&&j==5);
return 0; }
