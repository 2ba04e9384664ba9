// truth: safe
int main(void){ char c = 1; assert(sizeof('a') == 4 && sizeof(c) == 1 && sizeof(c + c) == 4 && sizeof(+c) == 4 && sizeof(1L) == 8 && sizeof(1 ? 1 : 1L) == 8); return 0; }
