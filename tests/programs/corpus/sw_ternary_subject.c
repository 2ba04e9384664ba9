// truth: safe
int main(void){ unsigned char c = 255; int r = 0; switch (c + 1) { case 0: r = 1; break; case 256: r = 2; } assert(r == 2); return 0; }
