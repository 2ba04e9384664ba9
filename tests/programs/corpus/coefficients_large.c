// truth: unsafe
unsigned __VERIFIER_nondet_uint(void);
int main(){ unsigned n=__VERIFIER_nondet_uint(); unsigned s=0; for(unsigned i=0;i<n;i++) s+=3000000000u; assert(s==3000000000ul*n); }
