// truth: safe
int main(void){ int x = 1; //@ assert !(x == 0) && \true;
 assert(1); return 0; }
