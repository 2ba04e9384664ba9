// truth: refused
int main(void){ int n = 3; int a[n]; assert(sizeof(a) == 3); return 0; }
