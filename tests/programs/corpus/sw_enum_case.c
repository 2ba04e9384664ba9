// truth: unsafe
enum e { A = 3, B, C = B + 5 }; int main(void){ enum e v = C; switch (v) { case 9: assert(0); default: ; } return 0; }
