// truth: refused
int x asm("y") ; int main(void){ assert(x == 0); return 0; }
