// truth: safe (C11 5.1.2.2.1: the number of arguments is not negative)
int main(int count, char **values) { assert(count >= 0); return 0; }
