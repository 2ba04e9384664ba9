// truth: safe
int main(void){ int x = 3, y; y = !(x = 0); assert(y == 1 && x == 0); return 0; }
