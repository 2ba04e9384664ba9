// truth: unsafe
int main(void){ int x = 5; switch (x) { case 4294967301L: assert(0); } return 0; }
