// truth: safe
int main(void){ int r = 1; switch (5) { r = 2; case 3: r = 3; } assert(r == 1); return 0; }
