// truth: safe
int unknown(void){ static int n; return n++; } int main(void){ int x = unknown(); int y = unknown(); assert(x == 0 && y == 1); return 0; }
