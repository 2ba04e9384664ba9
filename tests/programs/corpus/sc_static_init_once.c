// truth: safe
int f(void){ for (int i = 0; i < 3; i++) { static int n = 10; n++; if (i == 2) return n; } return 0; } int main(void){ int a = f(); int b = f(); assert(a == 13 && b == 16); return 0; }
