// truth: safe
int main(void){ int x = 0, r = 0; switch (x++) { case 0: r = x; break; case 1: r = 9; } assert(r == 1); return 0; }
