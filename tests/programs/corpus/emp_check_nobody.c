// truth: empty
void check(int); int main(void){ check(0); return 0; }
