// truth: unsafe
int g; __attribute__((constructor)) static void init(void){ g = 3; } int main(void){ assert(g == 0); return 0; }
