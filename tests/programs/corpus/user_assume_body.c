// truth: unsafe
int g; void assume_abort_if_not(int c){ g = 1; } int main(void){ assume_abort_if_not(0); assert(g == 0); return 0; }
