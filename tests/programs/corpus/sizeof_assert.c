// truth: safe
int f(void){ assert(0); return 1; } int main(void){ int s = sizeof(f()); assert(s == 4); return 0; }
