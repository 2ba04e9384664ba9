// truth: unsafe
int g; int g = 3; int g; int main(void){ assert(g == 0); return 0; }
