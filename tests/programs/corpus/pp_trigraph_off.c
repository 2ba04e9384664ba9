// truth: safe
int main(void){ int x = 1; // what??/
 x = 2;
 assert(x == 2); return 0; }
