// truth: unsafe
int g=0; int f(void){ return ++g<5; } int main(void){ int n=0; while(f()) n++; assert(g==4); return 0; }
