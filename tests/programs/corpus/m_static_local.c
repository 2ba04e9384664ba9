// truth: safe
int f(void){ static int n = 3; n += 2; return n; } int main(void){ f(); f(); int x = f(); assert(x == 9); return 0; }
