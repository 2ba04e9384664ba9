// truth: safe
int sum(int n){ int s = 0; for (int i = 0; i < n; i++) s += 2; return s; } int main(void){ int a = sum(2); int b = sum(3); assert(a == 4 && b == 6); return 0; }
