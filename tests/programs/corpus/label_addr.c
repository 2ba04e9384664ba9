// truth: refused
int main(void){ void *p = &&L; goto *p; assert(0); L: return 0; }
