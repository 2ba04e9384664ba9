// truth: safe
int main(void){ int i = 0, r = 0; switch (i++, i) { case 1: r = 5; } assert(r == 5); return 0; }
