// truth: unsafe
int main(void){ int i = 7; for (int i = 0; i < 3; i++) ; assert(i == 3); return 0; }
