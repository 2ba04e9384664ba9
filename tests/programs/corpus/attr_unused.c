// truth: safe
int main(void){ int x __attribute__((unused)) = 4; assert(x == 4); return 0; }
