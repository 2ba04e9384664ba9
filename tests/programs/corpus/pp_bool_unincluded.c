// truth: refused
int main(void){ bool b = 1; assert(b == 0); return 0; }
