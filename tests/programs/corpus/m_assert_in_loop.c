// truth: unsafe
int main(void){ int x = 0; while (x < 10) { assert(x != 7); x++; } return 0; }
