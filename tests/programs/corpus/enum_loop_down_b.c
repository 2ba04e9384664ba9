// truth: unsafe
int main(void) {
enum e { A, B, C, N }; int s=0; for(enum e i=C;i>=A && s<100;i--) s++; assert(s==3);
return 0; }
