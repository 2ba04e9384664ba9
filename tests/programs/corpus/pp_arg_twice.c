// truth: safe
#define TWICE(x) ((x) + (x))
int g; int f(void){ return ++g; }
int main(void){ int y = TWICE(f()); assert(g == 2 && y == 3); return 0; }
