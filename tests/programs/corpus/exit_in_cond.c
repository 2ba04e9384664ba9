// truth: safe
int f(int x){ if(x>3) exit(1); return 1; } int main(void){ int x=__VERIFIER_nondet_int(); if(x>2 && f(x)) assert(x==3); return 0; }
