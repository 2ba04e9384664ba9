// truth: unsafe
enum __attribute__((packed)) e { A, B }; int main(void){ assert(sizeof(enum e) == 4); return 0; }
