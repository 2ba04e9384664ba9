// truth: unsafe (h was called by f)
int h(void){ static int k; return k++; }
void f(int n){ h(); if(n>0) f(n-1); }
int main(void){ int x=nondet_int(); f(0); if(x) x=2; int r=h(); assert(r==0); }
