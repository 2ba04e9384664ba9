// truth: safe
int f(void){ return 3; } int main(void){ assert(f() == 3); }
