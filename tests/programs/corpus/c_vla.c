// truth: safe
int main(void) { int n = 3; int a[n++]; assert(n == 4); return 0; }
