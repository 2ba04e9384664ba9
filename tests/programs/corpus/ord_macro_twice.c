// truth: unspecified
#define MAX(a,b) ((a) > (b) ? (a) : (b))
int g; int f(void){ return ++g; } int main(void){ int r = MAX(f(), 0); assert(r == 2); assert(MAX(f(), f()) >= 3); return 0; }
