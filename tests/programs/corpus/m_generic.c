// truth: safe
int main(void){ char c = 1; assert(_Generic(c + 1, int: 1, default: 2) == 1); assert(_Generic(c, int: 1, char: 3) == 3); return 0; }
