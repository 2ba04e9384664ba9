// truth: safe
enum { K = 3 }; int a = K * 2 + (5 > 3); unsigned char b = 300; long c = 1 ? -1 : 0u; int main(void){ assert(a == 7 && b == 44 && c == 4294967295L); return 0; }
