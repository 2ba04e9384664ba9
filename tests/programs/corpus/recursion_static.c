// truth: unsafe (f(1) sets k)
int f(int n){ static int k; if(n<=0) return k; k=1; return f(n-1); }
int main(void){ if(f(1)>5) return 0; assert(f(0)==0); }
