// truth: unspecified
int g = 1; int f(void){ g = 5; return 1; } int main(void){ int x = g + f(); assert(x == 2); return 0; }
