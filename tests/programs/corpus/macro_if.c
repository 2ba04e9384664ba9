// truth: safe
#define if(x) if(!(x))
int main(void){ int i=0; if(i) i=4; assert(i==4); return 0; }
