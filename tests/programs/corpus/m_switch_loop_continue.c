// truth: safe
int main(void){ int s = 0; for (int i = 0; i < 4; i++) switch (i) { case 0: case 2: continue; case 3: s += 10; default: s++; } assert(s == 12); return 0; }
