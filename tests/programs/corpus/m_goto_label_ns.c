// truth: safe
int main(void){ int L = 1; goto L; L = 2; L: assert(L == 1); return 0; }
