// truth: unsafe
signed char f(void){ return 200; } int main(void){ assert(f() == 200); return 0; }
