// truth: refused
int main(void){ assert(L'a' == 98); return 0; }
