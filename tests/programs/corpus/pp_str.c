// truth: safe
#define S(x) #x
int main(void){ assert(sizeof(S(abc)) == 4); assert(S(a)[0] == 'a'); return 0; }
