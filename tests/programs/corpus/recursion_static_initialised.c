// truth: unsafe (f(1) clears k)
int f(int n){ static int k=1; if(n<=0) return k; k=0; return f(n-1); }
int main(void){ int x=f(1); if(x) x=2; assert(f(0)==1); }
