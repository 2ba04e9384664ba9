// truth: safe
int main(void){ long x = 4294967296L; int r = 0; switch (x) { case 0: r = 1; break; case 4294967296L: r = 2; } assert(r == 2); return 0; }
