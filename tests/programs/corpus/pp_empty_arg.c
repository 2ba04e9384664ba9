// truth: safe
#define E(x) x 1
int main(void){ assert(E(-) == -1 && E() == 1); return 0; }
