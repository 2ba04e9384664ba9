// truth: unsafe
int g; void myassume(int c){ if (!c) abort(); g++; } int main(void){ myassume(1); assert(g == 0); return 0; }
