// truth: unsafe
int main(void){ signed char c = -1; switch (c) { case 255: return 0; case -1: assert(0); } return 0; }
