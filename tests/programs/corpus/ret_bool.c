// truth: safe
_Bool f(int x){ return x; } int main(void){ assert(f(256) == 1); return 0; }
