// truth: refused
int main(void){ int i = 0; i = (i = 1) + (i = 2); assert(i == 4); return 0; }
