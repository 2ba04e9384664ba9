// truth: safe
int main(void){ int x = 2, r = 0; switch (x) { int y; case 1: y = 1; r = y; break; case 2: y = 7; r = y; } assert(r == 7); return 0; }
