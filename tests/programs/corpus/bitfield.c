// truth: refused
struct s { unsigned b : 3; }; int main(void){ struct s v; v.b = 9; assert(v.b == 9); return 0; }
