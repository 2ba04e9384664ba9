// truth: safe
int main(void){ assert(sizeof(1ull) == 8 && sizeof(1lu) == 8 && 1u - 2 > 0 && 1l - 2 < 0 && 1LL - 2u < 0); return 0; }
