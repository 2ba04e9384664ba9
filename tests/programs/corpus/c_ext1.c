// truth: safe
extern int g; int g; int main(void) { assert(g == 0); return 0; }
