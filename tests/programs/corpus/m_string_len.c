// truth: unsafe
int main(void){ int x = sizeof("abc"); assert(x == 3); return 0; }
