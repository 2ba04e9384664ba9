// truth: refused
int main(void){ int x = 3; switch (x) { case 1 ... 3: x = 9; break; case 4: x = 1; } assert(x == 3); return 0; }
