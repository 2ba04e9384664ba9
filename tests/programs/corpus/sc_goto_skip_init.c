// truth: safe
int main(void){ int n = 1; goto in; { int x = 7; in: x = 3; n += x; } assert(n == 4); return 0; }
