// truth: safe
enum e { N = -1, A, B }; int main(void){ enum e v = A; v--; assert(v < 0); return 0; }
