// truth: safe (the assertion is not reached)
int f(int n){ if(n==0) exit(1); return f(n-1); }
int main(void){ f(5); assert(0); }
