// truth: safe
int g; void a(void){ g = 1; } void b(void){ g = 2; } int main(void){ int c = __VERIFIER_nondet_bool(); c ? a() : b(); assert(g == (c ? 1 : 2)); return 0; }
