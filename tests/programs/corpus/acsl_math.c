// truth: safe
int main(void){ int x = 2147483647; //@ assert x + 1 > x;
 assert(1); return 0; }
