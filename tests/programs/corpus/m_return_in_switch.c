// truth: safe
int f(int x){ switch (x) { case 0: return 5; case 1: x = 7; default: return x + 1; } } int main(void){ assert(f(0) == 5 && f(1) == 8 && f(2) == 3); return 0; }
