// truth: safe
int g; int f(void){ g = 5; return 1; } int main(void){ int x = (f(), g); assert(x == 5); return 0; }
