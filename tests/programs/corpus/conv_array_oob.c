// truth: safe
int a[2]; int main(void){ a[0] = 1; assert(a[1] == 0); return 0; }
