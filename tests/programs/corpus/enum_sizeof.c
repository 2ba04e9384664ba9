// truth: safe
enum e { A = 1, B = sizeof(long), C }; int main(void){ assert(C == 9); return 0; }
