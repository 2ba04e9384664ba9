// truth: safe
#define while if
int main(void){ int i=0; while(i<5) i++; assert(i==1); return 0; }
