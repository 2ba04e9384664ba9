// truth: safe
enum e { A, B }; int main(void){ int x = -1; assert(x < A); assert(A - 1 < 0); return 0; }
