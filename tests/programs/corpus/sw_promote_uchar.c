// truth: unsafe
int main(void){ unsigned char c = 255; switch (c) { case -1: return 0; case 255: assert(0); } return 0; }
