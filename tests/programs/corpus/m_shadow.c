// truth: safe
int x = 1; int f(int x){ { int x = 3; x++; } return x; } int main(void){ int y = x; { int x = x = 5; y += x; } for (int x = 0; x < 2; x++) { int x = 9; y += x; } assert(y == 24 && f(7) == 7 && x == 1); return 0; }
