// truth: safe
int g=0; int f(void){ return g++; } int main(void){ int x = f()? f() : (f(), f()); assert(x==2&&g==3); return 0; }
