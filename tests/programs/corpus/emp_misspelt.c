// truth: empty
int main(void){ int x = 1; asert(x == 2); return 0; }
