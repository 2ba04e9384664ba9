// truth: unsafe
int main(void) {
enum e { A, B } x = A; x--; assert(!(x > B));
return 0; }
