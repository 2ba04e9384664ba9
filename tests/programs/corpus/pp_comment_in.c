// truth: safe
#define A 1 /* c */ + /* d
*/ 1
int main(void){ assert(A == 2); return 0; }
