// truth: unsafe
enum e { A = 2147483648u, B }; int main(void){ assert(-1 < (int)B && B == 5); return 0; }
