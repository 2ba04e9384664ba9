// truth: safe
int main(void){ long l = 4294967296L; _Bool b = l; assert(b == 1); if (l) ; else assert(0); int i = l; assert(!i); return 0; }
