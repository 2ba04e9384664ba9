// truth: safe
int f(int a){ return a; } int main(void){ int i = 1; int r = f((i++, i)); assert(r == 2); return 0; }
