// truth: safe
int main(void){ char c = __VERIFIER_nondet_char(); int r=0; switch (c) { case 'a': r=1; break; case '\n': r=2; break; case '\xff': r=3; break; } assert(r != 1 || c == 97); assert(r != 3 || c == -1); return 0; }
