// truth: safe
int main(void) {
int c=__VERIFIER_nondet_int(); assume(c>=0&&c<=3); int s=0; switch(c){ case 0: do { s++; case 1: s++; case 2: s++; } while(s<4); break; default: s=9; } assert(s==5||s==4||s==9||s==6);
return 0; }
