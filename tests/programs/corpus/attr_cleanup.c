// truth: unsafe
int g; static void done(int *p){ g = 3; } int main(void){ { int x __attribute__((cleanup(done))) = 1; } assert(g == 0); return 0; }
