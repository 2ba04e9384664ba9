// truth: unsafe
void set(int *p){ *p = 5; } int main(void){ int x = 1; set(&x); assert(x == 1); return 0; }
