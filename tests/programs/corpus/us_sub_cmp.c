// truth: safe
int main(void) {
unsigned short a=__VERIFIER_nondet_ushort(),b=__VERIFIER_nondet_ushort(); if(a-b<0) assert(a<b); unsigned c=__VERIFIER_nondet_uint(),d=__VERIFIER_nondet_uint(); assert(!(c-d<0));
return 0; }
