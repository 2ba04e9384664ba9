// truth: safe
int main(void){ char c; assert(sizeof(0, c) == 1); assert(sizeof((char)1) == 1); assert(sizeof(c = 5) == 1); assert(sizeof(c++)==1); return 0; }
