// truth: unsafe (f(3) is 3)
int f(int n){ return n <= 0 ? 0 : 1 + f(n - 1); } int main(void){ assert(f(3) == 4); return 0; }
