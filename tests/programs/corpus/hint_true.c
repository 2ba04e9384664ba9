// truth: safe
int __VERIFIER_nondet_int(void);
int main(){ int n=__VERIFIER_nondet_int(); int i=0; int j=0;
/*@ loop invariant \true; */
while(i<n){ i++; j+=2; } assert(j==2*i); }
