// truth: safe
int f(_Bool b){ return b; } int main(void){ assert(f(2) == 1 && f(256) == 1 && f(0) == 0); return 0; }
