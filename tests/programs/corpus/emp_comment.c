// truth: empty
int main(void){ int x = 1; // assert(x == 2);
 return 0; }
