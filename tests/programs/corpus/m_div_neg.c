// truth: safe
int main(void){ int a = -7, b = 2; assert(a / b == -3 && a % b == -1 && 7 / -2 == -3 && 7 % -2 == 1 && -7 / -2 == 3 && -7 % -2 == -1); return 0; }
