// truth: safe
int main(void) {
enum e { A, B }; enum e x = -1; assert(x > 0); assert(A - 1 < 0);
return 0; }
