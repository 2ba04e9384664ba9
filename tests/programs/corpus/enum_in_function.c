// truth: safe
int main(void){ enum { X = 4 } ; { enum { X = 9 }; assert(X == 9); } assert(X == 4); return 0; }
