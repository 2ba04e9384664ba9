// truth: safe
int main(void){ int x = 1; int s = sizeof(x++); assert(x == 1 && s == 4); return 0; }
