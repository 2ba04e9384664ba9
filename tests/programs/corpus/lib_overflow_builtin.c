// truth: refused
int main(void){ int r; _Bool o = __builtin_add_overflow(2147483647, 1, &r); assert(!o); return 0; }
