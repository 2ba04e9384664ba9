// truth: safe
int main(void) {
enum { A = 1 }; { struct s { enum { A = 5 } e; }; assert(A == 5); } assert(A == 1);
return 0; }
