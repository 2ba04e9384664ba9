// truth: safe
int f(void){ { static int n = 5; n--; return n; } } int main(void){ f(); int r = f(); assert(r == 3); return 0; }
