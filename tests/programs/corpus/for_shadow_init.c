// truth: safe
int main(void) {
int i=7; for(int j=i, i=1;i<3;i++){ assert(j==7);} assert(i==7);
return 0; }
