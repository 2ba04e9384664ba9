// truth: refused
int n; int main(void){ if (n++ < 2) main(); assert(n == 1); return 0; }
