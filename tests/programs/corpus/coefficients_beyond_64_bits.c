// truth: safe (both sides wrap around)
unsigned __VERIFIER_nondet_uint(void); int main(){ unsigned n=__VERIFIER_nondet_uint(); unsigned long s=0,i=0; while(i<n) {s+=4000000000u*(unsigned long)4000000000; i++;} assert(s==16000000000000000000ul*n); }
