// truth: safe
int main(void){ unsigned long x = 4294967295u; switch (x) { case -1: assert(0); } return 0; }
