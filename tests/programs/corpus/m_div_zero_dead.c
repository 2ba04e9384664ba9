// truth: safe
int main(void){ int x = 0; if (0) x = 1 / x; 0 && (x = 1 / x); assert(x == 0); return 0; }
