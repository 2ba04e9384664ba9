// truth: safe
int main(void){ int x = 1; /* it's */ x = '"'; /* " */ assert(x == 34); return 0; }
