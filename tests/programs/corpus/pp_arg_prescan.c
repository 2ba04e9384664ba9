// truth: safe
#define A B
#define B 3
#define ID(x) x
#define Q(x) ID(x)
int main(void){ assert(Q(A) == 3); return 0; }
