// truth: safe
int f(void){ return 3; } int main(void){ int r = f(); { int f = 5; r += f; } assert(r == 8); return 0; }
