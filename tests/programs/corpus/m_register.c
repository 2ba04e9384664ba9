// truth: safe
int main(void){ register int x = 3; auto int y = 4; assert(x + y == 7); return 0; }
