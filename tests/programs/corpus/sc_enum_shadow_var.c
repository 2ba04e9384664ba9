// truth: safe
enum { A = 5 }; int main(void){ int A = 3; assert(A == 3); return 0; }
