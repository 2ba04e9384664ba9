// truth: safe
#define F(x) (x)
int main(void){ assert(F((1, 2)) == 2); assert(F(F(F(3))) == 3); return 0; }
