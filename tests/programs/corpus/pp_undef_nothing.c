// truth: safe
#undef NOTHING
#define V(a) (a)
#define W V
int main(void){ assert(W(3) == 3); return 0; }
