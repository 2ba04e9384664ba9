// truth: safe
int main(void){ assert(0b101 == 5); return 0; }
