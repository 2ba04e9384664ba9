// truth: refused
int main(void){ assert(__builtin_popcount(7) == 2); return 0; }
