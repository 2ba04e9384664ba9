// truth: safe
int main(void){ _Bool b = __VERIFIER_nondet_bool(); switch (b) { case 0: case 1: break; default: assert(0);} switch(b){case 2: assert(0);} return 0; }
