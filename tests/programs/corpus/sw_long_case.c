// truth: unsafe
int main(void){ int x = 0; switch (x) { case 4294967296LL: assert(0); } return 0; }
