// truth: unsafe
int main(void){ int x = -1; unsigned u = 1; int c = 1; if ((c ? x : u) > 0) assert(0); return 0; }
