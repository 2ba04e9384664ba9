// truth: unsafe
int main(void){ int x = __VERIFIER_nondet_char(); assert((x & 7) == x % 8); return 0; }
