// truth: safe
int f(int n){ static int k=1; return n ? f(n-1) : k; }
int main(void){ assert(f(0)==1); }
