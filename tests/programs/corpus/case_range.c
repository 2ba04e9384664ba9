// truth: unsafe
int main(void){ int x = 5; switch (x) { case 1 ... 9: assert(0); } return 0; }
