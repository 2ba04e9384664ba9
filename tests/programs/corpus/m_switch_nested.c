// truth: safe
int main(void){ int r = 0; switch (1) { case 1: switch (2) { case 2: r = 1; break; case 1: r = 9; } r += 5; break; case 2: r = 77; } assert(r == 6); return 0; }
