// truth: unsafe
extern int g; int main(void){ assert(g == 0); return 0; } int g = 3;
