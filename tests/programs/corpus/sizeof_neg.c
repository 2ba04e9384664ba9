// truth: safe
int main(void){ assert(-1 > sizeof(int)); assert(sizeof(int) - 5 > 0); return 0; }
