// truth: unsafe
int main(void){ char c = 0; int n = 0; while (c >= 0 && n < 200) { c++; n++; } assert(n == 200); return 0; }
