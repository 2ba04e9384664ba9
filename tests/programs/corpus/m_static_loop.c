// truth: safe
int main(void){ int r = 0; for (int i = 0; i < 3; i++) { static int n; n += i; r = n; } assert(r == 3); return 0; }
