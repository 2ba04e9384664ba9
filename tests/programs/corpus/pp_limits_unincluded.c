// truth: refused
int main(void){ assert(INT_MAX > 5); return 0; }
