// truth: safe
int main(void){ int i, r = 0; for (i = 0; i < 3; i++) { switch (i) { case 1: continue; case 0: break; default: r += 10; } r++; } assert(r == 12); return 0; }
