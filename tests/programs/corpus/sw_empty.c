// truth: safe
int main(void) {
int x=__VERIFIER_nondet_int(); switch(x){} assert(1); switch(x){ int y; y=3; assert(0); }
return 0; }
