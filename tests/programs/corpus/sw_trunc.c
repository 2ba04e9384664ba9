// truth: safe
int main(void) {
unsigned char x=__VERIFIER_nondet_uchar(); int r=0; switch(x+1){ case 256: r=1; break; case 0: r=2; } assert(r!=2); assert(r==(x==255));
return 0; }
