// truth: safe
int main(void){ int i = 5; i = i + 1; i = (i++, i); assert(i == 7); return 0; }
