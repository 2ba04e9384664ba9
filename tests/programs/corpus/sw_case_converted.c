// truth: unsafe
int main(void){ unsigned u = 4294967295u; switch (u) { case -1: assert(0); } return 0; }
