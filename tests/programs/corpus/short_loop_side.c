// truth: safe
int g=0; int f(void){ g++; return g; } int main(void){ int i=0; while(i<3 && f()<10 || g<5 && f()) i++; assert(g==5); return 0; }
