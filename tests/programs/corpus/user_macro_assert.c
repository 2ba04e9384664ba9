// truth: safe
#undef assert
#define assert(c) ((void)0)
int main(void){ assert(0); __VERIFIER_assert(1); return 0; }
