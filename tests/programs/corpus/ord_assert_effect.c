// truth: unspecified
int g; int set(int v){ g = v; return v; } int main(void){ assert(set(1) + set(2) == 3 && g == 2); return 0; }
