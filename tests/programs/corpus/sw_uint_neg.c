// truth: unsafe
int main(void){ unsigned x = 4294967295u; int r = 0; switch (x) { case -1: r = 1; } assert(r == 0); return 0; }
