// truth: refused
int main(void){ __auto_type x = 4294967296L; assert(x == 0); return 0; }
