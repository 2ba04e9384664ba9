// truth: safe
#define F (x)
int main(void){ int x = 3; assert(F == 3); return 0; }
