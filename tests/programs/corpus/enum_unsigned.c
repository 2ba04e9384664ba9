// truth: unsafe
enum e { A, B }; int main(void){ enum e v = A; int x = -1; if (x < v) return 0; assert(0); return 0; }
