// truth: safe
int g = 1; int f(void){ g = 9; return 1; } int main(void){ int x = 4; x += f(); assert(x == 5 && g == 9); return 0; }
