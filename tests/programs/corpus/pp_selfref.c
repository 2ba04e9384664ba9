// truth: safe
int foo = 4;
#define foo (1 + foo)
int main(void){ assert(foo == 5); return 0; }
