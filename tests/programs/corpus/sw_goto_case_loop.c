// truth: safe
int main(void){ int i = 0, s = 0; for (;;) { switch (i++) { case 0: s += 1; continue; case 1: s += 2; break; default: goto out; } s += 10; } out: assert(s == 13); return 0; }
