// truth: safe
int main(void){ int i = 0; while (i++, i < 5) ; assert(i == 5); return 0; }
