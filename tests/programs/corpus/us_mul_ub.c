// truth: safe
int main(void){ unsigned short a = __VERIFIER_nondet_bool() ? 65535 : 1; int b = a * a; assert(b == 1); return 0; }
