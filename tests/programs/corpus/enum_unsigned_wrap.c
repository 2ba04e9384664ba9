// truth: unsafe
enum e { A, B }; int main(void){ enum e v = A; v--; assert(v < 0); return 0; }
