// truth: safe
int main(void){ int x = (int){3}; assert(x == 3); return 0; }
