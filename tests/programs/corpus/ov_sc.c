// truth: safe
int main(void) {
int x=__VERIFIER_nondet_int(); if(x<2147483647 && x+1>x) assert(1);
return 0; }
