// truth: safe
int main(void){ int i, j; for (i = 0, j = 10; i < j; i++, j--) ; assert(i == 5 && j == 5); return 0; }
